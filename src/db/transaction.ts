import { sql } from 'kysely';
import type { Database, Tx } from './database.ts';
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

/** The same once: a failure is thrown as it is. */
export async function runTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return await db.transaction().execute(async (tx) => {
    setLayout(tx, layoutOf(db));
    return await work(tx);
  });
}

/** From now on no statement of the transaction waits longer than this for a lock: it fails then (`isLockTimeout`). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(ms)}`.execute(tx);
}
