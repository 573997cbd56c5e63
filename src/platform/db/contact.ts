import type { Database } from './database.ts';
import { isMigrated } from './migrate.ts';

/**
 * Time in milliseconds after the start of a successful regular statement, during which the process counts as in contact with its database.
 * Regular statements are sent at least every 1.1 s. The time is longer, so that the process stays in contact if a failover makes one
 * statement fail.
 */
const IN_CONTACT_FOR_MS = 2_500;

/**
 * Contact of this process with its database, for `/readyz`. The regular statements that the process sends anyway report their success, so
 * a readiness check needs no statement of its own. These statements are the poll for recent changes and the renewal of the scan lease.
 */
export class DatabaseContact {
  readonly #db: Database;
  /** Time (`performance.now()`) at which the last successful regular statement began. */
  #lastMs = performance.now();
  /**
   * True if a read of the list of migrations has found that all are applied. While the process is in contact, the value then stays true,
   * because a migration is never undone.
   */
  #isMigrated = false;

  /** Begins the contact without a statement, so the caller must have used the database successfully just before. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** Records that a regular statement has succeeded. @param beganAtMs time (`performance.now()`) at which it was sent */
  confirm(beganAtMs: number): void {
    this.#lastMs = Math.max(this.#lastMs, beganAtMs);
  }

  /**
   * Returns true if the database can be reached and has all migrations. Reads the list of migrations, unless an earlier call since the last
   * loss of contact has found that all migrations are applied. After a loss of contact, the list is read again, because the database may
   * have been restored from an older backup in the meantime.
   */
  async isReady(): Promise<boolean> {
    if (performance.now() > this.#lastMs + IN_CONTACT_FOR_MS) {
      this.#isMigrated = false;
      return false;
    }
    this.#isMigrated ||= await isMigrated(this.#db);
    return this.#isMigrated;
  }
}
