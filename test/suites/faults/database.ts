import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Maximum time for which one statement is repeated. It is longer than the longest time for which a cluster has no primary. */
const WITHIN_MS = 60_000;
const REPEAT_EVERY_MS = 250;
/** SQLSTATE of errors that pass: the connection is lost (08), the server stops or starts (57P), or it is not the primary (25006). */
const PASSING = /^(?:08|57P|25006)/;

/** Access of the suite to the database of the service. It does not lead through the proxies and poolers that faults disturb. */
export class Database {
  readonly url: string;
  readonly #pool: pg.Pool;

  constructor(url: string) {
    this.url = url;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: 3,
      application_name: 'faults',
      connectionTimeoutMillis: 5_000,
    });
    this.#pool.on('error', () => {});
  }

  /** Runs a statement. Repeats it for up to 60 s if the connection is lost, so the statement may take effect twice. */
  async query<Row extends pg.QueryResultRow>(statement: string, values: unknown[] = []): Promise<Row[]> {
    for (const deadlineMs = Date.now() + WITHIN_MS; ; await sleep(REPEAT_EVERY_MS)) {
      try {
        return (await this.#pool.query<Row>(statement, values)).rows;
      } catch (error) {
        const isLasting = error instanceof pg.DatabaseError && !PASSING.test(error.code ?? '');
        if (isLasting || Date.now() > deadlineMs) {
          throw error;
        }
      }
    }
  }

  /** Opens a separate session, for example for a transaction that stays open. The caller ends the session. */
  async openSession(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
