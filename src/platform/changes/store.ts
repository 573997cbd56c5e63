import { sql } from 'kysely';
import { type Database, isCluster, type Tx } from '../db/database.ts';

/** Inserts a change. A retried transaction may insert it twice, which does no harm. */
export async function insertChange(tx: Tx, tenantId: number, id: string): Promise<void> {
  await tx.insertInto('recent_change').values({ id, tenant_id: tenantId }).execute();
}

interface Changes {
  rows: { id: string; tenantId: number }[];
  /** Number of the oldest transaction that was running when the changes were read. All transactions with lower numbers have ended. */
  oldestRunning: string;
}

/** Longer than a transaction takes to commit, plus the difference between the clocks of two nodes. */
const CLUSTER_WINDOW_SECONDS = 120;

/**
 * Reads the changes of the transaction `since` and of all later ones, or all changes. On a cluster, where each node numbers transactions on
 * its own, reads the last two minutes. Without the upper bound, the planner would read the whole table.
 */
export async function readChanges(db: Database, since: string | null): Promise<Changes> {
  const isRecent = isCluster(db)
    ? sql`changed_at > now() - make_interval(secs => ${CLUSTER_WINDOW_SECONDS})`
    : sql`transaction_id >= ${since ?? '0'}::xid8 AND transaction_id < pg_snapshot_xmax(pg_current_snapshot())`;
  const { rows } = await sql<Changes>`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS "oldestRunning",
      coalesce(json_agg(json_build_object('id', id, 'tenantId', tenant_id)), '[]') AS rows
    FROM recent_change
    WHERE ${isRecent}
  `.execute(db);
  return rows[0] as Changes;
}

/** The age must be so large that every process has read these changes. */
export async function deleteChanges(db: Database, ageSeconds: number): Promise<void> {
  await sql`DELETE FROM recent_change WHERE changed_at < now() - make_interval(secs => ${ageSeconds})`.execute(db);
}
