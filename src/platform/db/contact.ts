import { sql } from 'kysely';
import type { Database } from './database.ts';
import { isRefusedWrite } from './failures.ts';
import { compareMigrations } from './migrate.ts';
import { runTransaction } from './transaction.ts';

/** A statement proves the contact for this time. The process sends one at least every 1.1 s, so one may fail during a failover. */
const IN_CONTACT_FOR_MS = 2_500;

/** Contact with the database, for `/readyz`, which needs no statement of its own. A new object counts as in contact. */
export class DatabaseContact {
  readonly #db: Database;
  #lastMs = performance.now();
  /** True if all migrations were found, and the contact was not lost since. The database may then have been restored from an older backup. */
  #isMigrated = false;
  #refusesWrites = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Records the success of a regular statement. @param beganAtMs time (`performance.now()`) at which the statement was sent */
  confirm(beganAtMs: number): void {
    this.#lastMs = Math.max(this.#lastMs, beganAtMs);
  }

  noteFailure(error: unknown): void {
    this.#refusesWrites ||= isRefusedWrite(error);
  }

  async isReady(): Promise<boolean> {
    if (performance.now() > this.#lastMs + IN_CONTACT_FOR_MS) {
      this.#isMigrated = false;
      return false;
    }
    this.#isMigrated ||= (await compareMigrations(this.#db)).missing.length === 0;
    this.#refusesWrites &&= await refusesWrites(this.#db);
    return this.#isMigrated && !this.#refusesWrites;
  }
}

/** Tries to write some hundred KiB. A smaller write could succeed on a full disk, in a page of a table that has room. */
async function refusesWrites(db: Database): Promise<boolean> {
  const write = sql`CREATE TEMPORARY TABLE trial ON COMMIT DROP AS SELECT generate_series(1, 10000)`;
  return await runTransaction(db, (tx) => write.execute(tx)).then(() => false, isRefusedWrite);
}
