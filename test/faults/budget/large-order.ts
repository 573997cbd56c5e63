import { ORDERS } from '../../support/restaurant.ts';
import { json } from './case.ts';
import { type Call, UNIQUE } from './call.ts';
import { type House, times } from './house.ts';

/** The largest body that is taken. */
export const BODY_BYTES = 1024 ** 2;
/** The most items of an order that is to be taken. */
export const ITEMS = 1_000;

/** One piece of each of so many dishes, with as many add-ons as fit into the body. */
export function largeOrder({ dishes }: House, bytes: number): Call {
  const sold = dishes.slice(0, ITEMS);
  const addons = Math.floor((bytes / sold.length - 50) / 65);
  const items = sold.map((dish) => ({
    item_id: dish.sku,
    quantity: 1,
    addons: dish.addons.slice(0, Math.max(0, addons)).map(({ id }) => ({ addon_id: id, quantity: 1 })),
  }));
  return json('a large order', 'partner', 'POST', ORDERS, { external_order_id: UNIQUE, items });
}

/** Places so many of them. */
export async function placeLargeOrders(house: House, count: number, bytes: number): Promise<void> {
  const order = JSON.parse(String(largeOrder(house, bytes).body)) as object;
  await times(count, async (index) => {
    await house.call('partner', 'POST', ORDERS, { ...order, external_order_id: `stored ${index}` });
  });
}
