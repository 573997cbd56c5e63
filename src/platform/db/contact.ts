import { sql } from 'kysely';
import type { Database } from './database.ts';
import { isRefusedWrite } from './failures.ts';
import { isMigrated } from './migrate.ts';
import { runTransaction } from './transaction.ts';

/**
 * Time in milliseconds for which a successful regular statement proves that the process is in contact with its database. The time begins
 * when the statement is sent. The process sends regular statements again and again, at least every 1.1 s (`DatabaseContact`). The time is
 * longer than two of these intervals. So the process stays in contact if one regular statement fails during a failover, and the next one
 * succeeds.
 */
const IN_CONTACT_FOR_MS = 2_500;

/**
 * Contact of this process with its database, for `/readyz`. The process sends some regular statements for its own work. Their success is
 * recorded here, so a readiness check needs no statement of its own. Such statements are the poll for recent changes, and the search of a
 * webhook worker for a free scan lease. A worker with a scan lease searches the database for due deliveries.
 */
export class DatabaseContact {
  readonly #db: Database;
  /** Time (`performance.now()`) at which the last successful regular statement began. */
  #lastMs = performance.now();
  /**
   * True if the list of migrations in the database has shown that all migrations are applied. Then the list is not read again, because the
   * service never undoes a migration. A loss of contact makes the value false again, because the database may then have been restored from
   * an older backup.
   */
  #isMigrated = false;
  /** True if the database has refused a write, and no trial has succeeded since. */
  #refusesWrites = false;

  /**
   * Counts the process as in contact for the next 2.5 s (`IN_CONTACT_FOR_MS`), without sending a statement. So the caller must have just
   * used the database successfully.
   */
  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Records the success of a statement that the process sends regularly, for example of the poll for recent changes.
   * @param beganAtMs time (`performance.now()`) at which the statement was sent
   */
  confirm(beganAtMs: number): void {
    this.#lastMs = Math.max(this.#lastMs, beganAtMs);
  }

  /** Records that a call has failed. If the database has refused its write, the next readiness check tries a write. */
  noteFailure(error: unknown): void {
    this.#refusesWrites ||= isRefusedWrite(error);
  }

  /**
   * Returns true if the database can be reached, has all migrations, and does not refuse writes. If a call has found all migrations applied, later calls do not read
   * the list of migrations, until the contact is lost. After a loss of contact, the list is read again, because the database may have been
   * restored from an older backup in the meantime.
   */
  async isReady(): Promise<boolean> {
    if (performance.now() > this.#lastMs + IN_CONTACT_FOR_MS) {
      this.#isMigrated = false;
      return false;
    }
    this.#isMigrated ||= await isMigrated(this.#db);
    this.#refusesWrites &&= await refusesWrites(this.#db);
    return this.#isMigrated && !this.#refusesWrites;
  }
}

/**
 * Tries to write some hundred KiB, and leaves nothing behind. A smaller write could succeed on a full disk, in a page of a table that has
 * room. Another failure than a refused write, for example a missing right to make the temporary table, proves nothing.
 */
async function refusesWrites(db: Database): Promise<boolean> {
  const write = sql`CREATE TEMPORARY TABLE trial ON COMMIT DROP AS SELECT generate_series(1, 10000)`;
  return await runTransaction(db, (tx) => write.execute(tx)).then(() => false, isRefusedWrite);
}
