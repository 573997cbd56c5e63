import { type Selectable, sql } from 'kysely';
import type { Database, DB } from '#platform/db/database.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { KitchenOrder } from './schedule.ts';

/** Begins a list of orders or stays: no id is smaller. */
export const FIRST_ID = firstIdAt(0);

interface OrderRow extends KitchenOrder {
  created_at: Date;
}

/** Reads unfinished orders. If an order has several special dishes, the first SKU in alphabetical order counts. */
export async function readOrders(db: Database, tenantId: number, afterId: string, limit: number): Promise<OrderRow[]> {
  const { rows } = await sql<OrderRow>`
    SELECT o.id, o.status, o.order_type, o.created_at, ordered.portions, ordered.special_sku
    FROM (
      SELECT id, status, order_type, created_at, lines FROM restaurant_order
      WHERE tenant_id = ${tenantId} AND status NOT IN ('completed', 'cancelled') AND id > ${afterId}
      ORDER BY id LIMIT ${limit}
    ) AS o
    CROSS JOIN LATERAL (
      SELECT sum((line->>'quantity')::bigint)::bigint AS portions,
        min(line->>'sku') FILTER (WHERE line->>'sku' LIKE 'SANDBOX-%') AS special_sku
      FROM json_array_elements(o.lines) AS line
    ) AS ordered
    ORDER BY o.id
  `.execute(db);
  return rows;
}

type StayRow = Pick<Selectable<DB['reservation']>, 'id' | 'room_type_id' | 'check_out' | 'guest_name' | 'created_at'>;

export async function readStays(db: Database, tenantId: number, afterId: string, limit: number): Promise<StayRow[]> {
  return await db
    .selectFrom('reservation')
    .select(['id', 'room_type_id', 'check_out', 'guest_name', 'created_at'])
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'confirmed')
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}
