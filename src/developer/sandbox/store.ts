import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import type { OrderStatus } from '#restaurant/orders/orders.ts';
import type { KitchenOrder } from './schedule.ts';

export interface OrderRow extends KitchenOrder {
  created_at: Date;
}

/**
 * Maximum stored size in bytes of the lines (ordered dishes) of one order. The query does not parse larger lines. Lines may take megabytes,
 * and parsing such lines at every read would overload the database.
 */
const MAX_LINES_BYTES = 8 * 1024;
/** Assumed number of portions of an order whose lines are larger than `MAX_LINES_BYTES`. */
const MANY_PORTIONS = 1_000;

/**
 * Reads the tenant's orders that have the status and whose id is after `afterId`, oldest first. The database counts the portions and finds
 * the special dish, so the lines are not transferred. The SKU of a special dish begins with `SANDBOX-` and decides the next statuses of the
 * order. If an order has several special dishes, the first SKU in alphabetical order counts. If the lines of an order are larger than
 * `MAX_LINES_BYTES`, the order counts as `MANY_PORTIONS` portions without a special dish.
 */
export async function readOrders(
  db: Database,
  tenantId: number,
  status: OrderStatus,
  afterId: string,
  limit: number,
): Promise<OrderRow[]> {
  const { rows } = await sql<OrderRow>`
    SELECT o.id, o.status, o.order_type, o.created_at, ordered.portions, ordered.special_sku
    FROM (
      SELECT id, status, order_type, created_at, lines FROM restaurant_order
      WHERE tenant_id = ${tenantId} AND status = ${status} AND id > ${afterId} ORDER BY id LIMIT ${limit}
    ) AS o
    CROSS JOIN LATERAL (
      SELECT coalesce(sum((line->>'quantity')::bigint), ${MANY_PORTIONS})::bigint AS portions,
        min(line->>'sku') FILTER (WHERE line->>'sku' LIKE 'SANDBOX-%') AS special_sku
      FROM json_array_elements(CASE WHEN pg_column_size(o.lines) <= ${MAX_LINES_BYTES} THEN o.lines ELSE '[]' END) AS line
    ) AS ordered
    ORDER BY o.id
  `.execute(db);
  return rows;
}
