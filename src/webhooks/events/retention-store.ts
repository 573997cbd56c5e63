import { sql } from 'kysely';
import { type Database, PLANNED_ANEW } from '#platform/db/database.ts';
import { inOrderOfIndex } from '#platform/db/transaction.ts';

/** Tenants in the order of their ids, after the given one. */
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
 * Removes the oldest of the tenant's events between two ids, but for those whose delivery is still pending. It passes
 * over rows that somebody else holds, so several processes share the work and none waits. The locks are taken in a
 * materialised CTE, for the LIMIT of an `IN (SELECT … SKIP LOCKED)` holds for each scan alone.
 * @returns the ids of what was removed, in no order
 */
export async function removeEvents(
  db: Database,
  tenantId: number,
  range: { afterId: string; beforeId: string },
  limit: number,
): Promise<string[]> {
  const statement = sql<{ id: string }>`
    WITH old AS MATERIALIZED (
      SELECT id FROM event
      WHERE tenant_id = ${tenantId} AND id > ${range.afterId} AND id < ${range.beforeId}
        AND delivery_status IS DISTINCT FROM 'pending'
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM event AS e USING old WHERE e.tenant_id = ${tenantId} AND e.id = old.id RETURNING e.id
    ${PLANNED_ANEW}`;
  const { rows } = await inOrderOfIndex(db, 'read write', (tx) => statement.execute(tx));
  return rows.map((row) => row.id);
}
