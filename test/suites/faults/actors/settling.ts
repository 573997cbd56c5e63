import type { Client, Request } from '../client.ts';
import type { Creation } from '../history.ts';

/** Repeats a create call until the status of the response is below 500. Then records the outcome of the call. */
export async function create(client: Client, creation: Creation, request: Request): Promise<void> {
  const { answer } = await client.settle(creation.partner.tenant, request);
  const id: unknown = answer.body?.order_id ?? answer.body?.reservation_id;
  if (answer.status < 300 && typeof id === 'string') {
    creation.successes.push({ status: answer.status, id });
  } else if (answer.body?.code === 'room_not_available') {
    creation.refusal = 'room_not_available';
  } else {
    client.history.surprises.push(`${request.path} ${creation.externalId}: ${answer.status} ${answer.text}`);
  }
  creation.isSettled = true;
}

/**
 * Sets the status of an order or a reservation. If a try gets a 5xx or no response, the client tries again, although the failed try may
 * have set the status. The response to the next try then depends on the request:
 * - With a `request_id`, the service recognises the repeated request, and responds with 200.
 * - Without a `request_id`, the service refuses the request, because the status is already set.
 *   After a refusal, the function reads the status. If it is the wanted status, an earlier try has set it, because no other client changes
 *   this order or reservation.
 */
export async function change(
  client: Client,
  creation: Creation,
  status: string,
  { request, read }: { request: Request; read: Request },
): Promise<void> {
  const { tenant } = creation.partner;
  const { answer, wasUnknown } = await client.settle(tenant, request);
  const isRepeatable = request.options.json !== undefined;
  let isDone = answer.status === 200 && answer.body?.status === status;
  if (!isDone && wasUnknown && !isRepeatable && answer.body?.code === 'invalid_status_transition') {
    const { answer: found } = await client.settle(tenant, read);
    isDone = found.body?.status === status;
  }
  if (isDone) {
    creation.statuses.push(status);
  } else {
    client.history.surprises.push(`${request.path} to ${status}: ${answer.status} ${answer.text}`);
  }
}
