import type { Database } from './database.ts';
import { isMigrated } from './migrate.ts';

/**
 * Longest time in milliseconds since the start of the last successful regular statement, for a process that is in contact with its database.
 * Regular statements are sent at least every 1.1 s. The time is longer, because a failover may make one of them fail.
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
  /** True if all migrations have been applied, as read since the contact began. A migration is never undone. */
  #isMigrated = false;

  /** The contact begins with this call, so the caller must have used the database just before. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** Records that a regular statement has succeeded. @param beganAtMs time (`performance.now()`) at which it was sent */
  confirm(beganAtMs: number): void {
    this.#lastMs = Math.max(this.#lastMs, beganAtMs);
  }

  /**
   * Returns true if the database can be reached and has all migrations. The first call after a contact began reads the list of migrations,
   * because a database that was away may have been restored from an older backup. All other calls send no statement.
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
