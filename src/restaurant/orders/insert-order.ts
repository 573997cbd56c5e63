import { batching } from '#platform/db/batching.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { insertOrders, type NewOrder } from './store.ts';

/**
 * Maximum length of an order that is inserted in a batch, in UTF-16 code units of its texts. One statement for 16 orders with 128 KiB of
 * lines takes 110 ms, and the other orders of the batch would wait for it. By itself such an order takes 4 ms.
 */
const MAX_BATCHED_LENGTH = 16 * 1024;
/**
 * Maximum number of batches under way at the same time. With two batches, the database can write one batch while the other waits for its
 * flush to disk.
 */
export const BATCHES_UNDER_WAY = 2;

/**
 * Returns a function that inserts an order, together with other orders that arrive at the same time. It returns false if the credential has
 * an order with this external id already.
 */
export function orderInserter(db: Database): (order: NewOrder) => Promise<boolean> {
  const insert = (orders: NewOrder[]) => withRetries(() => insertOrders(db, orders));
  const insertTogether = batching(db, {
    many: insert,
    maxUnderWay: BATCHES_UNDER_WAY,
    tenantIdOf: ({ tenant_id }) => tenant_id,
  });
  return async (order) =>
    lengthOf(order) > MAX_BATCHED_LENGTH ? (await insert([order]))[0] === true : await insertTogether(order);
}

function lengthOf({ lines, notes, delivery_address }: NewOrder): number {
  return lines.length + (notes?.length ?? 0) + (delivery_address?.length ?? 0);
}
