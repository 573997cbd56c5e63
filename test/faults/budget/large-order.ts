import { ORDERS } from '../../support/restaurant.ts';
import { json } from './case.ts';
import { type Call, UNIQUE } from './call.ts';
import { type BudgetTenant, times } from './house.ts';

/** Size of the largest body that the service accepts. */
export const BODY_BYTES = 1024 ** 2;
/** Maximum number of items in an order. */
export const ITEMS = 1_000;

/** Returns a call that orders each dish once, up to 1,000 dishes, with as many add-ons as fit into a body of `bytes`. */
export function largeOrder({ dishes }: BudgetTenant, bytes: number): Call {
  const sold = dishes.slice(0, ITEMS);
  const addons = Math.floor((bytes / sold.length - 50) / 65);
  const items = sold.map((dish) => ({
    item_id: dish.sku,
    quantity: 1,
    addons: dish.addons.slice(0, Math.max(0, addons)).map(({ id }) => ({ addon_id: id, quantity: 1 })),
  }));
  return json('a large order', 'partner', 'POST', ORDERS, { external_order_id: UNIQUE, items });
}

/** Places `count` large orders. */
export async function placeLargeOrders(tenant: BudgetTenant, count: number, bytes: number): Promise<void> {
  const order = JSON.parse(String(largeOrder(tenant, bytes).body)) as object;
  await times(count, async (index) => {
    await tenant.call('partner', 'POST', ORDERS, { ...order, external_order_id: `stored ${index}` });
  });
}
