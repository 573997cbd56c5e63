import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import { isLockConflict } from './failures.ts';

/**
 * Longest time in milliseconds that a statement of a migration waits for a lock. Meanwhile, calls on the same table wait behind this
 * statement. The time is shorter than deadlock_timeout of PostgreSQL (1 s). So in a deadlock, the migration usually stops waiting before
 * PostgreSQL finds the deadlock and ends the transaction of a call.
 */
const LOCK_WAIT_MS = 500;
/** Time in milliseconds between two tries of a migration. During this time, the calls that waited for its locks can run. */
const PAUSE_MS = 500;
/**
 * Time in milliseconds after which a migration fails if it still does not get its locks, for example because another transaction never
 * ends.
 */
const GIVE_UP_MS = 10 * 60_000;

export interface GiveWayOptions {
  /** Called once, after the first try of the migration fails because another transaction holds a lock. */
  onLocked?: (() => void) | undefined;
  /** Time in milliseconds after which the migration fails, in place of the default of 10 minutes. Used by tests. */
  giveUpMs?: number | undefined;
}

/**
 * Runs a migration in a transaction, but lets calls of the service wait only briefly for its locks. If the migration does not get a lock
 * within half a second, its transaction is rolled back. The calls can then run for half a second, before the whole migration runs again.
 * @throws the error of the last try if a lock is still not free after 10 minutes. Throws all other errors of the work unchanged.
 */
export async function inPatientTransaction<T>(
  db: Kysely<T>,
  options: GiveWayOptions,
  work: (tx: Transaction<T>) => Promise<void>,
): Promise<void> {
  await retryWhileLocked(options, () =>
    db.transaction().execute(async (tx) => {
      await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(tx);
      await work(tx);
    }),
  );
}

/**
 * Runs the work of a migration. If PostgreSQL ends the work because of a deadlock or a `lock_timeout`, runs it again after half a second.
 * The work itself may set a `lock_timeout`. This function does not set it, because the work may build an index, and this build must wait
 * until all older transactions have ended.
 * @throws the error of the last try if the work still ends in this way after 10 minutes. Throws all other errors of the work unchanged.
 */
export async function retryWhileLocked(
  { onLocked = () => {}, giveUpMs = GIVE_UP_MS }: GiveWayOptions,
  work: () => Promise<void>,
): Promise<void> {
  const giveUpAtMs = performance.now() + giveUpMs;
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isLockConflict(error) || performance.now() > giveUpAtMs) {
        throw error;
      }
    }
    if (tries === 1) {
      onLocked();
    }
    await sleep(PAUSE_MS);
  }
}
