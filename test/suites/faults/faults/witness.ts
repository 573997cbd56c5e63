import { ORDERS } from '../../../support/restaurant.ts';
import { moveOrder, placeOrder } from '../actors/orders.ts';
import { type Attempt, ATTEMPTS } from '../observer.ts';
import { type LinkedProcess, waitUntil, type World } from '../world.ts';

interface DeliveryRow {
  id: string;
  status: string;
  attempt_count: number;
  attempts: Attempt[];
}

/**
 * Places an order and confirms it, which causes one event.
 * @param partner the partner that gets the event, by default the witness
 * @returns a function that reads the delivery of the event
 */
export async function causeEvent({ client, postgres, witness }: World, partner = witness.partner) {
  const read = async () =>
    await postgres.query<DeliveryRow>(
      `SELECT id, status, attempt_count, ${ATTEMPTS} AS attempts FROM delivery AS d WHERE tenant_id = $1 AND credential_id = $2`,
      [partner.tenant.id, partner.credentialId],
    );
  const order = await placeOrder(client, partner);
  const before = new Set((await read()).map(({ id }) => id));
  await moveOrder(client, order, 'confirmed');
  return async () => (await read()).find(({ id }) => !before.has(id));
}

/** Waits until an API process reads from the database. After a restart, PostgreSQL accepts writes as soon as it accepts reads. */
export async function untilServing({ client, witness }: World, api: LinkedProcess, withinMs: number) {
  const { tenant, headers } = witness.partner;
  const request = { method: 'GET', path: `${ORDERS}?page_size=1`, options: { headers } };
  return await waitUntil(async () => (await client.try(tenant, request, api.url))?.status === 200, withinMs);
}
