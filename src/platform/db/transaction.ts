import { sql } from 'kysely';
import type { Database, Db, Tx } from './database.ts';
import { withRetries } from './failures.ts';
import { layoutOf, setLayout } from './layout.ts';

/**
 * Runs the work in one transaction (read committed). Runs the whole transaction again after a deadlock, a serialization failure, a failover
 * or a lost connection. The caller must make ids and times before the work begins, so that a second run of the work writes the same rows.
 * @throws UnavailableError if the database stays unavailable
 */
export function inTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withRetries(() => runTransaction(db, work));
}

/**
 * Runs the work in one transaction without a retry, and throws each failure unchanged. A transaction in the mode `read only` also succeeds
 * while writes hang (`HungWrites`).
 */
export async function runTransaction<T>(
  db: Database,
  work: (tx: Tx) => Promise<T>,
  mode: 'read only' | 'read write' = 'read write',
): Promise<T> {
  const transaction = mode === 'read only' ? db.transaction().setAccessMode(mode) : db.transaction();
  return await transaction.execute(async (tx) => {
    setLayout(tx, layoutOf(db));
    return await work(tx);
  });
}

/** Settings that leave the planner only plans that read few rows by an index. */
const PLAN_BY_INDEX = [
  'enable_sort',
  'enable_incremental_sort',
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'jit',
].map((setting) => sql`set_config(${sql.lit(setting)}, 'off', true)`);

/**
 * Runs the work in a transaction in which the planner uses an index for each table, and its order. The table of events is sometimes empty
 * and sometimes large. If the last ANALYZE saw few events, or if a statement was prepared then, the planner would otherwise read or sort the
 * whole backlog for each credential.
 */
export async function inOrderOfIndex<T>(
  db: Db,
  mode: 'read only' | 'read write',
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const run = async (tx: Tx) => {
    await sql`SELECT ${sql.join(PLAN_BY_INDEX)}`.execute(tx);
    return await work(tx);
  };
  return await (db.isTransaction ? run(db as Tx) : runTransaction(db, run, mode));
}

/** Limits how long each later statement of the transaction waits for a lock. After this time the statement fails (`isLockTimeout`). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(ms)}`.execute(tx);
}
