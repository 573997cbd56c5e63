import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import { isLockConflict } from './failures.ts';

/**
 * Time in milliseconds that a statement of a migration waits for a lock. Calls on the same table wait behind the statement for this time. It is
 * shorter than deadlock_timeout of PostgreSQL (1 s), so a migration gives way before a deadlock ends a transaction of a call.
 */
const LOCK_WAIT_MS = 500;
/** Time in milliseconds during which the calls go on, before the migration is tried again. */
const PAUSE_MS = 500;
/** Time in milliseconds after which a migration gives up, because a transaction does not end. */
const GIVE_UP_MS = 10 * 60_000;

export interface GiveWayOptions {
  /** Called at most once, if a transaction holds a lock that the migration needs. */
  onLocked?: (() => void) | undefined;
  /** Overrides the time in milliseconds after which a migration gives up; used by tests. */
  giveUpMs?: number | undefined;
}

/**
 * Runs a migration in a transaction that gives way to the transactions of calls. If a lock is not free within half a second, the transaction is
 * undone, the calls go on for half a second, and the whole migration runs again.
 * @throws the error of the last try if the locks are not free within 10 minutes. Throws all other errors of the work unchanged.
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
 * Runs the work again after each conflict about locks. The build of an index runs without a limit on its waits, because it waits by a lock for
 * the end of each older transaction.
 * @throws the error of the last try if the conflicts go on for 10 minutes. Throws all other errors of the work unchanged.
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
