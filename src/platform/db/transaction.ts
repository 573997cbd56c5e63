import { type QueryResult, type RawBuilder, sql } from 'kysely';
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
 * while writes hang (`HungWrites`). In the mode `snapshot` it is read only too, and all statements see the database as it was at the first.
 */
export async function runTransaction<T>(
  db: Database,
  work: (tx: Tx) => Promise<T>,
  mode: 'read only' | 'read write' | 'snapshot' = 'read write',
): Promise<T> {
  const transaction = mode === 'read write' ? db.transaction() : db.transaction().setAccessMode('read only');
  const inMode = mode === 'snapshot' ? transaction.setIsolationLevel('repeatable read') : transaction;
  return await inMode.execute(async (tx) => {
    setLayout(tx, layoutOf(db));
    return await work(tx);
  });
}

/** Sets, for one transaction, that the planner makes only plans that read few rows by an index. */
const PLAN_BY_INDEX = sql.raw(
  `SELECT ${[
    'enable_sort',
    'enable_incremental_sort',
    'enable_seqscan',
    'enable_bitmapscan',
    'enable_hashjoin',
    'enable_mergejoin',
    'jit',
  ]
    .map((setting) => `set_config('${setting}', 'off', true)`)
    .join(', ')}`,
);

/**
 * Runs a statement for which the planner uses an index for each table, and its order. The queue of deliveries is sometimes empty and
 * sometimes large. If the last ANALYZE saw few deliveries, or if a statement was prepared then, the planner would otherwise read or sort the
 * whole backlog for each credential. The settings are sent in one message with the statement, so they are in the transaction of the
 * statement, even if the caller has begun no transaction.
 * @param limitMs time limit of the statement in milliseconds; null: the limit of the pool
 */
export async function executeByIndex<Row>(
  db: Db,
  statement: RawBuilder<Row>,
  limitMs: number | null = null,
): Promise<QueryResult<Row>> {
  const execute = async (connection: Db) => {
    await PLAN_BY_INDEX.execute(connection);
    if (limitMs !== null) {
      await sql`SELECT set_config('statement_timeout', '${sql.raw(String(limitMs))}', true)`.execute(connection);
    }
    return await statement.execute(connection);
  };
  return db.isTransaction ? await execute(db) : await db.connection().execute(execute);
}

/** Limits how long each later statement of the transaction waits for a lock. After this time the statement fails (`isLockTimeout`). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(ms)}`.execute(tx);
}
