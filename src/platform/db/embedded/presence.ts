import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AlreadyServedError } from './failure.ts';

export type Role = 'serve' | 'command';

/** One process's sign of life: a connection, and locks that end with the process, however that ends. */
export interface Presence {
  client: pg.Client;
  /** Resolves when the connection has ended. */
  ended: Promise<void>;
}

/** Session locks in the maintenance database, where neither the application nor its migrator takes any. */
const PRESENCE_LOCK = 1;
const SERVE_LOCK = 2;
/** A `serve` that was just killed may still be connected for a moment. */
const SERVE_CLAIM_MS = 3_000;
const CLAIM_POLL_MS = 100;
const TIMEOUT_MS = 5_000;

/** Connects, once, under a name that tells an operator who is there. @throws whatever pg reports */
export async function connect(url: string, who: Role | 'visitor'): Promise<Presence> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `roomservice ${who}`,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => {}); // that the connection has ended is what matters
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  await client.connect();
  return { client, ended };
}

/**
 * Makes others see that we are here, until we leave. While the last one is stopping PostgreSQL this waits and then
 * fails with the connection, so nobody can come in between.
 */
export async function appear({ client }: Presence): Promise<void> {
  await client.query('SELECT pg_advisory_lock_shared($1)', [PRESENCE_LOCK]);
}

/** Takes back `appear`, and tells whether nobody else is here. If so, nobody can appear until this connection ends. */
export async function leaveAsLast({ client }: Presence): Promise<boolean> {
  await client.query('SELECT pg_advisory_unlock_all()');
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [PRESENCE_LOCK]);
  return rows[0]?.taken === true;
}

/** Creates a database unless it is there. */
export async function createDatabase({ client }: Presence, name: string): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) {
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`).catch((error: { code?: string }) => {
      // Another process was faster: 42P04 where it had finished, 23505 where it was about to.
      if (error.code !== '42P04' && error.code !== '23505') {
        throw error;
      }
    });
  }
}

/**
 * Makes this presence the only `serve`, as long as it lasts. A lock rather than a look at who came first: the order
 * in which connections start is not the order in which they become visible, so each of two could take itself for the
 * first.
 * @throws AlreadyServedError where another one holds it for 3 s
 */
export async function claimServing({ client }: Presence, dataDir: string, signal: AbortSignal): Promise<void> {
  for (const deadlineMs = Date.now() + SERVE_CLAIM_MS; ; await sleep(CLAIM_POLL_MS, undefined, { signal })) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [SERVE_LOCK]);
    if (rows[0]?.taken) {
      return;
    }
    if (Date.now() > deadlineMs) {
      throw new AlreadyServedError(dataDir);
    }
  }
}
