import { sql } from 'kysely';
import type { Database, Tx } from './database.ts';
import { retrying } from './failures.ts';

/**
 * Runs the work in one transaction (read committed), the whole of it again after a deadlock, a serialization failure, a
 * failover or a lost connection. Ids and times come from outside the work, so that a second run writes the same rows.
 * @throws UnavailableError when the database stays out of reach
 */
export function inTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return retrying(() => db.transaction().execute(work));
}

/** From now on no statement of the transaction waits longer than this for a lock: it fails then (`isLockTimeout`). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(ms)}`.execute(tx);
}
