import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';

/** Returns the ids of tenants after the given id, in ascending order. */
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
 * Removes the oldest of the tenant's events with ids between `afterId` and `beforeId`, and their deliveries, except events whose delivery
 * is pending. The statement skips rows that another process has locked, so that several processes share the work and none of them waits.
 * It locks the rows in a materialised CTE, because PostgreSQL may run the subquery of an `IN (SELECT … SKIP LOCKED)` several times. A LIMIT
 * would then apply to each run and not to the whole statement.
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
