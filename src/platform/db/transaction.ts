import { sql } from 'kysely';
import type { Database, Db, Tx } from './database.ts';
import { retrying } from './failures.ts';
import { layoutOf, setLayout } from './layout.ts';

/**
 * Runs the work in one transaction (read committed), the whole of it again after a deadlock, a serialization failure, a
 * failover or a lost connection. Ids and times come from outside the work, so that a second run writes the same rows.
 * @throws UnavailableError when the database stays out of reach
 */
export function inTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return retrying(() => runTransaction(db, work));
}

/** The same once: a failure is thrown as it is. One that only reads goes on while writes hang (`HungWrites`). */
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

/**
 * Runs statements whose rows the planner takes in the order of an index rather than sorting them, in a transaction. If the last ANALYZE saw
 * the events just after a backlog had gone, it would sort all of the next backlog once for each credential.
 */
export async function inOrderOfIndex<T>(
  db: Db,
  mode: 'read only' | 'read write',
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const run = async (tx: Tx) => {
    await sql`SELECT set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`.execute(
      tx,
    );
    return await work(tx);
  };
  return await (db.isTransaction ? run(db as Tx) : runTransaction(db, run, mode));
}

/** From now on no statement of the transaction waits longer than this for a lock: it fails then (`isLockTimeout`). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(ms)}`.execute(tx);
}
