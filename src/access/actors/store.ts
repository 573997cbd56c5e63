import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

/** A person without a name has the e-mail address as name. */
const NAMES = { app_user: sql`coalesce(name, email)`, display: sql`label`, credential: sql`label` };

export async function findNames(
  db: Database,
  table: keyof typeof NAMES,
  tenantId: number,
  ids: string[],
): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT id, ${NAMES[table]} AS name FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} AND id = ANY(${ids}::uuid[])
  `.execute(db);
  return rows;
}
