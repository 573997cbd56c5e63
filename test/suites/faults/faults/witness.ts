import { moveOrder, placeOrder } from '../actors/orders.ts';
import { type Attempt, ATTEMPTS } from '../observer.ts';
import type { Partner } from '../tenants.ts';
import type { World } from '../world.ts';

interface DeliveryRow {
  id: string;
  status: string;
  attempt_count: number;
  attempts: Attempt[];
}

/** An event that the suite has caused. `read` returns the current state of its delivery. */
interface CausedEvent {
  read(): Promise<DeliveryRow | undefined>;
}

/**
 * Places an order, and then confirms it. The confirmation causes one event, which is returned.
 * @param partner the partner that gets the event. By default it is the witness, the partner whose deliveries the code of a fault follows.
 */
export async function causeEvent({ client, postgres, witness }: World, partner: Partner = witness.partner) {
  const order = await placeOrder(client, partner);
  const before = new Set((await read()).map(({ id }) => id));
  await moveOrder(client, order, 'confirmed');
  const caused: CausedEvent = { read: async () => (await read()).find(({ id }) => !before.has(id)) };
  return caused;

  async function read(): Promise<DeliveryRow[]> {
    return await postgres.query<DeliveryRow>(
      `SELECT id, status, attempt_count, ${ATTEMPTS} AS attempts FROM delivery AS d WHERE tenant_id = $1 AND credential_id = $2`,
      [partner.tenant.id, partner.credentialId],
    );
  }
}
