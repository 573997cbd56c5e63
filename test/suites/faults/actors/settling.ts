import { randomUUID } from 'node:crypto';
import type { Client, Request } from '../client.ts';
import type { Creation } from '../history.ts';

/** Repeats a create call until the status of the response is below 500. Then records the outcome of the call. */
export async function create(client: Client, creation: Creation, request: Request): Promise<void> {
  const { answer } = await client.settle(creation.partner.tenant, request);
  const id: unknown = answer.body?.order_id ?? answer.body?.reservation_id;
  if (answer.status < 300 && typeof id === 'string') {
    creation.successes.push({ status: answer.status, id });
  } else if (answer.body?.code !== 'room_not_available') {
    client.history.surprises.push(`${request.path} ${creation.externalId}: ${answer.status} ${answer.text}`);
  }
  creation.isSettled = true;
}

/** Sets the status of an order or a reservation by a call of the staff API. A repetition is recognised by its `request_id`. */
export async function changeAsStaff(client: Client, creation: Creation, status: string, path: string): Promise<void> {
  const { tenant } = creation.partner;
  const options = { headers: tenant.staff, json: { status, request_id: randomUUID() } };
  const request = { method: 'POST', path: `${path}${creation.successes[0]?.id}/status/`, options };
  const { answer } = await client.settle(tenant, request);
  note(client, creation, status, answer.body?.status === status, `${request.path}: ${answer.status} ${answer.text}`);
}

/**
 * Cancels an order or a reservation as the partner. If an unknown try has cancelled it, the service refuses the repetition. So after a
 * refusal the status is read, because no other client changes this order or reservation.
 */
export async function cancel(
  client: Client,
  creation: Creation,
  pathOf: (externalId: string, action?: string) => string,
): Promise<void> {
  const { partner, externalId } = creation;
  const options = { headers: partner.headers };
  const path = pathOf(externalId, 'cancel/');
  const { answer, wasUnknown } = await client.settle(partner.tenant, { method: 'POST', path, options });
  let found = answer;
  if (wasUnknown && answer.body?.code === 'invalid_status_transition') {
    ({ answer: found } = await client.settle(partner.tenant, { method: 'GET', path: pathOf(externalId), options }));
  }
  note(client, creation, 'cancelled', found.body?.status === 'cancelled', `${path}: ${answer.status} ${answer.text}`);
}

function note({ history }: Client, creation: Creation, status: string, isDone: boolean, seen: string): void {
  if (isDone) {
    creation.statuses.push(status);
  } else {
    history.surprises.push(`to ${status}: ${seen}`);
  }
}
