import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import { isCluster } from '../db/layout.ts';

/**
 * Inserts a change. If the response to the COMMIT is lost, the retry of the transaction inserts the change a second time. That does no
 * harm, because invalidating a tenant twice has the same effect as once.
 */
export async function insertChange(tx: Tx, tenantId: number, id: string, topic: string | null): Promise<void> {
  await tx.insertInto('recent_change').values({ id, tenant_id: tenantId, topic }).execute();
}

/** Change of data of a tenant, as the list has it. */
export interface ChangeRow {
  id: string;
  tenantId: number;
  /** Kind of the data. Null for any data. A later version of the service may write kinds that this version does not know. */
  topic: string | null;
  /** Start of the transaction of the change in milliseconds of Unix time, by the clock of the database. The commit came later. */
  changedAtMs: number;
}

export interface Changes {
  /** Changes of all tenants. */
  rows: ChangeRow[];
  /** Oldest transaction that was running when the changes were read. All older transactions have ended. */
  oldestRunning: string;
}

/**
 * Age in seconds up to which a change is read on a cluster. The age counts from the start of the transaction of the change, so it is large
 * enough for a transaction that took long to commit, and for clocks of nodes that differ.
 */
const CLUSTER_WINDOW_SECONDS = 120;

/**
 * Reads the committed changes of all tenants that this transaction or a later one has made. If `since` is null, reads all changes of the
 * table. The upper bound excludes no transaction of this server. But without it, the planner would expect a third of the table, and read the
 * whole table.
 *
 * On a cluster, the nodes number their transactions independently, and a change has the number of the node that its process is connected to.
 * So there the changes of the last two minutes are read each time.
 * @param since `oldestRunning` of the last call. The last call has read the changes of all older transactions
 */
export async function readChanges(db: Database, since: string | null): Promise<Changes> {
  const isRecent = isCluster(db)
    ? sql`changed_at > now() - make_interval(secs => ${CLUSTER_WINDOW_SECONDS})`
    : sql`transaction_id >= ${since ?? '0'}::xid8 AND transaction_id < pg_snapshot_xmax(pg_current_snapshot())`;
  const { rows } = await sql<{ oldestRunning: string; ids: string[] | null } & Columns>`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS "oldestRunning", array_agg(id) AS ids, array_agg(tenant_id) AS "tenantIds",
      array_agg(topic) AS topics, array_agg(extract(epoch FROM changed_at)::float8 * 1000) AS "changedAtMs"
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
  changedAtMs: number[] | null;
}

function rowOf(id: string, index: number, { tenantIds, topics, changedAtMs }: Partial<Columns>): ChangeRow {
  return {
    id,
    tenantId: Number(tenantIds?.[index]),
    topic: topics?.[index] ?? null,
    changedAtMs: changedAtMs?.[index] ?? 0,
  };
}

/** Deletes changes that are older than this number of seconds. The number must be so large that every process has read these changes. */
export async function deleteChanges(db: Database, olderThanSeconds: number): Promise<void> {
  await sql`DELETE FROM recent_change WHERE changed_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(
    db,
  );
}
