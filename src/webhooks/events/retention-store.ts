import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';

export async function readTenantIds(db: Database): Promise<number[]> {
  const rows = await db.selectFrom('tenant').select('id').orderBy('id').execute();
  return rows.map((row) => row.id);
}

/**
 * Removes at most `limit` events of the tenant with their deliveries, the oldest first, and no event whose delivery is pending. PostgreSQL
 * runs a materialised CTE only once. It may run the subquery of an `IN (SELECT … LIMIT … SKIP LOCKED)` several times, and the statement would
 * then remove more than `limit` events.
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
