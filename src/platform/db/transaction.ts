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
 * while writes hang (`HungWrites`). In the mode `snapshot` it is read only too, and all its statements see the data of one moment.
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

/**
 * Makes a statement that changes settings until the end of the transaction. `LentClient` recognizes the form of this statement, and sends
 * it in one message with the next statement.
 */
function settingsOfTransaction(settings: Record<string, string>): RawBuilder<unknown> {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return sql.raw(`SELECT ${calls.join(', ')}`);
}

/** Makes the planner choose only plans that read the rows by an index, in the order of the index. */
const PLAN_BY_INDEX = settingsOfTransaction({
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
});

/**
 * Runs a statement with settings that make the planner read each table by an index, in the order of the index. Without these settings, the
 * planner may choose a slow plan for the queue of deliveries. If the queue was short at the last ANALYZE, or when the statement was
 * prepared, the planner expected few rows. If the queue is long now, the plan then reads or sorts the whole queue for each credential. The
 * settings are sent in one message with the statement, so they are in the transaction of the statement, even if the caller has begun no
 * transaction.
 * @param limitMs time limit of the statement in milliseconds; null: the limit of the pool
 */
export async function executeByIndex<Row>(
  db: Db,
  statement: RawBuilder<Row>,
  limitMs: number | null = null,
): Promise<QueryResult<Row>> {
  const limit = limitMs === null ? [] : [settingsOfTransaction({ statement_timeout: String(limitMs) })];
  return await executeWith([PLAN_BY_INDEX, ...limit], db, statement);
}

/** Makes the planner choose only plans that scan no whole table, and that use only one process of the server. */
const PLAN_WITHOUT_TABLE_SCAN = settingsOfTransaction({
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
});

/**
 * Runs a statement with settings that make the planner scan only indexes. The plan may still sort. Without these settings, if a statement
 * counts many rows of a table, the planner would read the table itself. This takes longer than reading an index that has all columns of the
 * statement. The server would also use several processes for this one statement.
 */
export async function executeWithoutTableScan<Row>(db: Db, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  return await executeWith([PLAN_WITHOUT_TABLE_SCAN], db, statement);
}

async function executeWith<Row>(
  settings: RawBuilder<unknown>[],
  db: Db,
  statement: RawBuilder<Row>,
): Promise<QueryResult<Row>> {
  const execute = async (connection: Db) => {
    for (const setting of settings) {
      await setting.execute(connection);
    }
    return await statement.execute(connection);
  };
  return db.isTransaction ? await execute(db) : await db.connection().execute(execute);
}

/** Limits how long each later statement of the transaction waits for a lock. After this time the statement fails (`isLockTimeout`). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(ms)}`.execute(tx);
}
