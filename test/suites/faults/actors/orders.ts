import { ORDERS, orderPath, STAFF_ORDERS } from '../../../support/restaurant.ts';
import type { Actor, Client, Request } from '../client.ts';
import type { Creation } from '../history.ts';
import type { Random } from '../random.ts';
import type { Partner } from '../tenants.ts';
import type { World } from '../world.ts';
import { cancel, changeAsStaff, create } from './settling.ts';

const WAY = ['confirmed', 'preparing', 'ready', 'completed'];

let placed = 0;

/** Returns a simulated client that places orders, repeats some create calls, and changes statuses as staff or as the partner. */
export function orderActor({ client, partners, random }: World): Actor {
  const own: Creation[] = [];
  return {
    paceMs: 600,
    async act() {
      if (own.length > 0 && random.oneIn(6)) {
        const old = random.pick(own);
        await create(client, old, placing(old.partner, old.externalId));
        return;
      }
      const order = await placeOrder(client, random.pick(partners), random.oneIn(4) ? 2 : 1);
      own.push(order);
      await moveAlong(client, order, random);
    },
  };
}

/**
 * Places one new order.
 * @param copies the number of concurrent calls with the same external id
 * @param notes the notes of the order, by default the external id of the order
 */
export async function placeOrder(client: Client, partner: Partner, copies = 1, notes?: string): Promise<Creation> {
  placed += 1;
  const externalId = `${partner.tenant.marker}-order-${placed}`;
  const order = client.history.begin('order', partner, externalId);
  const request = placing(partner, externalId, notes);
  await Promise.all(Array.from({ length: copies }, () => create(client, order, request)));
  return order;
}

export async function moveOrder(client: Client, order: Creation, status: string): Promise<void> {
  await changeAsStaff(client, order, status, STAFF_ORDERS);
}

async function moveAlong(client: Client, order: Creation, random: Random): Promise<void> {
  if (order.successes.length === 0) {
    return;
  }
  for (const status of WAY.filter(() => random.next() < 0.6)) {
    await moveOrder(client, order, status);
  }
  if (order.statuses.at(-1) !== 'completed' && random.oneIn(3)) {
    await cancel(client, order, orderPath);
  }
}

function placing(partner: Partner, externalId: string, notes = externalId): Request {
  const json = { external_order_id: externalId, items: [{ item_id: 'WATER', quantity: 1 }], notes };
  return { method: 'POST', path: ORDERS, options: { headers: partner.headers, json } };
}
