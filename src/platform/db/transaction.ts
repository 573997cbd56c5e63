import { type QueryResult, type RawBuilder, sql } from 'kysely';
import type { Database, Db, Tx } from './database.ts';
import { SENT_AHEAD } from './driver.ts';
import { withRetries } from './failures.ts';

/** Runs work in one transaction, and again after a temporary failure, so ids and times are made before. @throws UnavailableError */
export function inTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withRetries(() => runTransaction(db, work));
}

/** Runs the work in one transaction without a retry. In the mode `snapshot`, all its statements read the data of one moment. */
export async function runTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>, mode?: 'snapshot'): Promise<T> {
  const transaction = db.transaction();
  return await (mode === 'snapshot'
    ? transaction.setAccessMode('read only').setIsolationLevel('repeatable read')
    : transaction
  ).execute(work);
}

function settingsOfTransaction(settings: Record<string, string>): string {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return `${SENT_AHEAD}SELECT ${calls.join(', ')}`;
}

const PLAN_BY_INDEX = settingsOfTransaction({
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  // A plan by index does not depend on the parameters, and planning takes as long as a small claim.
  plan_cache_mode: 'force_generic_plan',
});

/** Runs a statement that reads each table by an index. Otherwise the planner may sort a whole queue that was short at the last ANALYZE. */
export async function executeByIndex<Row>(db: Db, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  const [result] = await executeWith(PLAN_BY_INDEX, db, [statement]);
  return result as QueryResult<Row>;
}

/** Runs several statements as `executeByIndex` runs one, in one transaction. Returns their results in order. */
export async function executeAllByIndex(db: Db, statements: RawBuilder<unknown>[]): Promise<QueryResult<unknown>[]> {
  return await executeWith(PLAN_BY_INDEX, db, statements);
}

const PLAN_WITHOUT_TABLE_SCAN = settingsOfTransaction({
  enable_seqscan: 'off',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
});

/** Runs a statement without table scans, which the planner may choose for a search because the table was short at the last ANALYZE. */
export async function executeWithoutTableScan<Row>(db: Db, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  const [result] = await executeWith(PLAN_WITHOUT_TABLE_SCAN, db, [statement]);
  return result as QueryResult<Row>;
}

async function executeWith<Row>(settings: string, db: Db, statements: RawBuilder<Row>[]): Promise<QueryResult<Row>[]> {
  const execute = async (tx: Db) => {
    await sql.raw(settings).execute(tx);
    const results: QueryResult<Row>[] = [];
    for (const statement of statements) {
      results.push(await statement.execute(tx));
    }
    return results;
  };
  return await (db.isTransaction ? execute(db) : inTransaction(db, execute));
}

/** Limits the wait of later statements for locks. After it they fail (`isLockTimeout`). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await sql.raw(`${SENT_AHEAD}SET LOCAL lock_timeout = ${ms}`).execute(tx);
}
