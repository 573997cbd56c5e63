import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';

/** Written by a second try as well, whose first one's answer was lost: a change told twice is forgotten twice. */
export async function insertChange(tx: Tx, tenantId: number, id: string): Promise<void> {
  await tx.insertInto('recent_change').values({ id, tenant_id: tenantId }).execute();
}

export interface ChangeRow {
  id: string;
  tenantId: number;
}

/** Changes of all tenants (a global table), committed up to now and begun no longer ago than the given time. */
export async function readChanges(db: Database, seconds: number): Promise<ChangeRow[]> {
  const { rows } = await sql<ChangeRow>`
    SELECT id, tenant_id AS "tenantId" FROM recent_change WHERE changed_at > now() - make_interval(secs => ${seconds})
  `.execute(db);
  return rows;
}

/** Removes what every node has long read. */
export async function deleteChanges(db: Database, olderThanSeconds: number): Promise<void> {
  await sql`DELETE FROM recent_change WHERE changed_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(
    db,
  );
}
