import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';

/** Returns at most `limit` ids of tenants that are greater than `afterId`, in ascending order. */
export async function readTenantIds(db: Database, afterId: number, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('tenant')
    .select('id')
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/**
 * Removes at most `limit` events of the tenant with their deliveries, the oldest first. Takes only events with ids between `afterId` and
 * `beforeId`, and no event whose delivery is pending. Skips rows that another process has locked, so that several processes can work at the
 * same time and no process waits.
 *
 * The statement chooses and locks the rows in a materialised CTE, because PostgreSQL runs such a CTE only once. PostgreSQL may run the
 * subquery of an `IN (SELECT … LIMIT … SKIP LOCKED)` several times, and the statement would then remove more than `limit` events.
 * @returns the ids of the removed events, in no particular order
 */
export async function removeEvents(
  db: Database,
  tenantId: number,
  range: { afterId: string; beforeId: string },
  limit: number,
): Promise<string[]> {
  const statement = sql<{ id: string }>`
    WITH old AS MATERIALIZED (
      SELECT id FROM event AS e
      WHERE tenant_id = ${tenantId} AND id > ${range.afterId} AND id < ${range.beforeId} AND NOT EXISTS (
        SELECT FROM delivery WHERE tenant_id = ${tenantId} AND id = e.id AND status = 'pending'
      )
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), delivery_row AS (
      DELETE FROM delivery AS d USING old WHERE d.tenant_id = ${tenantId} AND d.id = old.id
    )
    DELETE FROM event AS e USING old WHERE e.tenant_id = ${tenantId} AND e.id = old.id RETURNING e.id`;
  const { rows } = await executeByIndex(db, statement);
  return rows.map((row) => row.id);
}
