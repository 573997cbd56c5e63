import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';

/**
 * Inserts a change. If the response to the COMMIT is lost, the retry of the transaction inserts the change a second time. That does no
 * harm, because invalidating a tenant twice has the same effect as once.
 */
export async function insertChange(tx: Tx, tenantId: number, id: string): Promise<void> {
  await tx.insertInto('recent_change').values({ id, tenant_id: tenantId }).execute();
}

export interface ChangeRow {
  id: string;
  tenantId: number;
}

/** Reads the committed changes of all tenants. A change is read if its transaction began at most this number of seconds ago. */
export async function readChanges(db: Database, seconds: number): Promise<ChangeRow[]> {
  const { rows } = await sql<ChangeRow>`
    SELECT id, tenant_id AS "tenantId" FROM recent_change WHERE changed_at > now() - make_interval(secs => ${seconds})
  `.execute(db);
  return rows;
}

/** Deletes changes that are older than this number of seconds. The number must be so large that every process has read these changes. */
export async function deleteChanges(db: Database, olderThanSeconds: number): Promise<void> {
  await sql`DELETE FROM recent_change WHERE changed_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(
    db,
  );
}
