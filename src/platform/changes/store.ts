import { sql } from 'kysely';
import { type Database, isCluster, type Tx } from '../db/database.ts';

/**
 * Inserts a change. If the response to the COMMIT is lost, the retry of the transaction inserts the change a second time. That does no
 * harm, because invalidating a tenant twice has the same effect as once.
 */
export async function insertChange(tx: Tx, tenantId: number, id: string, topic: string | null): Promise<void> {
  await tx.insertInto('recent_change').values({ id, tenant_id: tenantId, topic }).execute();
}

/** Entry of the list of recent changes. It says that data of one tenant has changed. */
export interface ChangeRow {
  id: string;
  tenantId: number;
  /**
   * Kind of the changed data. Null if any data may have changed. A later version of the service may write kinds that this version does not
   * know.
   */
  topic: string | null;
}

export interface Changes {
  /** Changes of all tenants. */
  rows: ChangeRow[];
  /** Number of the oldest transaction that was running when the changes were read. All transactions with lower numbers have ended. */
  oldestRunning: string;
}

/**
 * Age in seconds up to which `readChanges` reads a change on a cluster. The age counts from the start of the transaction. So it has to be
 * longer than a transaction takes to commit, plus the difference between the clocks of two nodes.
 */
const CLUSTER_WINDOW_SECONDS = 120;

/**
 * Reads committed changes.
 *
 * On one node, reads the changes of all transactions with the number `since` or a higher number. If `since` is null, reads all changes. The
 * condition also has an upper bound for the transaction number. The bound leaves out no committed change, but it helps the planner. Without
 * the bound, the planner would expect a third of the table as the result, and would read the whole table.
 *
 * On a cluster, each node numbers its transactions independently, so numbers from two nodes cannot be compared. So each call ignores
 * `since`, and reads the changes of the last two minutes.
 * @param since `oldestRunning` of the previous call. Transactions with lower numbers had ended, so earlier calls have read their changes.
 */
export async function readChanges(db: Database, since: string | null): Promise<Changes> {
  const isRecent = isCluster(db)
    ? sql`changed_at > now() - make_interval(secs => ${CLUSTER_WINDOW_SECONDS})`
    : sql`transaction_id >= ${since ?? '0'}::xid8 AND transaction_id < pg_snapshot_xmax(pg_current_snapshot())`;
  const { rows } = await sql<{ oldestRunning: string; ids: string[] | null } & Columns>`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS "oldestRunning", array_agg(id) AS ids, array_agg(tenant_id) AS "tenantIds",
      array_agg(topic) AS topics
    FROM recent_change
    WHERE ${isRecent}
  `.execute(db);
  const { oldestRunning = '0', ids, ...columns } = rows[0] ?? {};
  return { rows: (ids ?? []).map((id, index) => rowOf(id, index, columns)), oldestRunning };
}

/** Columns of the changes as arrays, because one row with arrays is read faster than many rows. */
interface Columns {
  tenantIds: string[] | null;
  topics: (string | null)[] | null;
}

function rowOf(id: string, index: number, { tenantIds, topics }: Partial<Columns>): ChangeRow {
  return { id, tenantId: Number(tenantIds?.[index]), topic: topics?.[index] ?? null };
}

/** Deletes changes that are older than this number of seconds. The number must be so large that every process has read these changes. */
export async function deleteChanges(db: Database, olderThanSeconds: number): Promise<void> {
  await sql`DELETE FROM recent_change WHERE changed_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(
    db,
  );
}
