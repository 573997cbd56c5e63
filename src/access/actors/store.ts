import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

/** A person without a name has the e-mail address as name. */
export async function findNames(
  db: Database,
  tenantId: number,
  ids: string[],
): Promise<{ id: string; name: string }[]> {
  const isWanted = sql`tenant_id = ${tenantId} AND id = ANY(${ids}::uuid[])`;
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT id, coalesce(name, email) AS name FROM app_user WHERE ${isWanted}
    UNION ALL SELECT id, label FROM display WHERE ${isWanted}
    UNION ALL SELECT id, label FROM credential WHERE ${isWanted}`.execute(db);
  return rows;
}
