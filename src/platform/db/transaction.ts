import type { Kysely, QueryResult, RawBuilder } from 'kysely';
import type { Database, Db, Tx } from './database.ts';
import type { PipelineConnection } from './driver.ts';
import { withRetries } from './failures.ts';

/**
 * Runs the work in one transaction (read committed). Runs the whole transaction again after a deadlock, a serialization failure, a failover
 * or a lost connection. The caller must make ids and times before the work begins, so that a second run of the work writes the same rows.
 * @throws UnavailableError if the database stays unavailable
 */
export function inTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withRetries(() => runTransaction(db, work));
}

/**
 * Runs the work in one transaction without a retry, and throws each failure unchanged. The transaction has one of three modes:
 * - `read write`: The work may write.
 * - `read only`: The work may only read.
 * - `snapshot`: Like `read only`, but all statements see the data as it was at one moment.
 */
export async function runTransaction<T>(
  db: Database,
  work: (tx: Tx) => Promise<T>,
  mode: 'read only' | 'read write' | 'snapshot' = 'read write',
): Promise<T> {
  const transaction = mode === 'read write' ? db.transaction() : db.transaction().setAccessMode('read only');
  const inMode = mode === 'snapshot' ? transaction.setIsolationLevel('repeatable read') : transaction;
  return await inMode.execute(work);
}

/** Returns a statement that changes PostgreSQL settings until the end of the transaction. */
function settingsOfTransaction(settings: Record<string, string>): string {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return `SELECT ${calls.join(', ')}`;
}

/** Settings that force the planner of PostgreSQL to read the rows by an index, in the order of the index. */
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
 * Runs a statement with settings that make the planner read each table by an index, in the order of the index.
 *
 * Without these settings, the planner may choose a slow plan for a statement that reads the first rows of a queue. The planner expects few
 * rows if the queue was short at the last ANALYZE, or when the statement was prepared. If the queue is long now, this plan reads or sorts
 * the whole queue.
 *
 * The settings take no round trip of their own (`PipelineConnection`). Outside of a transaction, the statement gets a transaction of its own.
 */
export async function executeByIndex<Row>(db: Db, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  return await executeWith(PLAN_BY_INDEX, db, statement);
}

/** Settings that force the planner of PostgreSQL to scan no whole table, and to use only one process of the server. */
const PLAN_WITHOUT_TABLE_SCAN = settingsOfTransaction({
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
});

/**
 * Runs a statement with settings that make the planner read an index, and not scan the whole table. An index that contains all columns of
 * the statement is faster to read than the table. Without these settings, the planner would scan the whole table for a statement that
 * counts many rows, and the server would use several processes for the scan.
 */
export async function executeWithoutTableScan<Row>(db: Db, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  return await executeWith(PLAN_WITHOUT_TABLE_SCAN, db, statement);
}

async function executeWith<Row>(settings: string, db: Db, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  const query = statement.compile(db);
  return await withConnection(db, (connection) => connection.executeWith<Row>(settings, query));
}

/** Runs a statement that PostgreSQL refuses in a transaction, for example CREATE INDEX CONCURRENTLY. */
export async function executeOutsideTransaction<T>(db: Kysely<T>, statement: RawBuilder<unknown>): Promise<void> {
  const query = statement.compile(db);
  await withConnection(db, (connection) => connection.executeUnwrapped(query));
}

/**
 * Limits the time in milliseconds that each later statement of the transaction waits for a lock. After this time the statement fails
 * (`isLockTimeout`).
 */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await withConnection(tx, async (connection) => connection.sendAhead(`SET LOCAL lock_timeout = ${ms}`));
}

/** Runs work with the connection of a transaction, or with any connection of a database. */
export function withConnection<T, Tables>(
  db: Kysely<Tables>,
  work: (connection: PipelineConnection) => Promise<T>,
): Promise<T> {
  return db.getExecutor().provideConnection((connection) => work(connection as PipelineConnection));
}
