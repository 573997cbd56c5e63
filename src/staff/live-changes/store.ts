import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { Fields, selectEach } from '#platform/db/inputs.ts';
import { firstIdAt } from '#platform/lib/ids.ts';

/** The first 8 digits of an id are the number of its slice of time. */
const SLICE_MS = 0x1_0000;

/**
 * Numbers of the newest rows of a tenant by source and slice, with a space between. A number changes with each row of its slice, however
 * late it is committed. For stays it is the sum of the times of their last changes.
 */
export type Look = Record<string, number>;

const FIELDS = new Fields<{ tenantId: number }>({ tenantId: 'bigint' });

/**
 * Reads the rows of the present slice and of the one before. Each condition has an upper bound that no row exceeds, so that the planner
 * expects few rows and uses an index.
 * @returns the look of each tenant, in the order of the tenants
 */
export async function look(db: Database, tenantIds: number[], nowMs: number): Promise<Look[]> {
  const first = Math.floor(nowMs / SLICE_MS - 1) * SLICE_MS;
  const slice = sql`left(id::text, 8) AS slice`;
  const changedAt = sql`date_part('epoch', changed_at)`;
  const inputs = tenantIds.map((tenantId) => ({ tenantId }));
  const looks = await selectEach(db, FIELDS, inputs, ({ tenantId }) => {
    const ofTenant = (column: string, value: RawBuilder<unknown>, most: string) =>
      sql`tenant_id = ${tenantId} AND ${sql.ref(column)} BETWEEN (SELECT ${value}) AND ${sql.lit(most)}`;
    const isNew = ofTenant('id', sql`${firstIdAt(first)}::uuid`, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    return sql<{ numbers: Look | null }>`
      SELECT json_object_agg(source || ' ' || slice, number) AS numbers FROM (
        SELECT 'order' AS source, ${slice}, count(*) AS number FROM restaurant_order WHERE ${isNew} GROUP BY slice
        UNION ALL SELECT CASE WHEN type LIKE 'order.%' THEN 'order_event' ELSE 'event' END AS source, ${slice}, count(*)
        FROM event WHERE ${isNew} GROUP BY source, slice
        UNION ALL SELECT split_part(action, '.', 1) AS source, ${slice}, count(*)
        FROM audit_entry WHERE ${isNew} GROUP BY source, slice
        UNION ALL SELECT 'stay', floor(${changedAt} * 1000 / ${sql.lit(SLICE_MS)})::text AS slice, sum(${changedAt})
        FROM reservation WHERE ${ofTenant('changed_at', sql`${new Date(first)}::timestamptz`, 'infinity')} GROUP BY slice
      ) AS newest`;
  });
  return looks.map((found) => found?.numbers ?? {});
}
