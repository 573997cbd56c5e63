import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { newClient } from '../session.ts';
import { AlreadyServedError, inUseError } from './failure.ts';

/** Kind of process. An `exclusive` process is a command that runs only while no other process uses PostgreSQL. */
export type Role = 'serve' | 'command' | 'exclusive';

/** Connection that shows that a process uses PostgreSQL. Its locks end with the process, even if the process is killed. */
export interface Presence {
  client: pg.Client;
  /** Resolves when the connection has ended. */
  ended: Promise<void>;
}

/**
 * Key of the advisory lock that each process holds in shared mode, and an `exclusive` process in exclusive mode. The process that stops
 * PostgreSQL also holds it in exclusive mode. The locks are in the maintenance database, where nothing else takes locks.
 */
const USE_LOCK = 1;
/** Key of the advisory lock that a `serve` process holds in exclusive mode, so that only one `serve` process runs. */
const SERVE_LOCK = 2;
/** Time in milliseconds to wait for a lock of another process, because a process that was just killed may still be connected. */
const CLAIM_MS = 3_000;
const CLAIM_POLL_MS = 100;
const TIMEOUT_MS = 5_000;

/** Connects without retries. The application name of the connection shows the role of the process. @throws the error of pg */
export async function connect(url: string, who: Role | 'visitor'): Promise<Presence> {
  const client = newClient(url, {
    application_name: `roomservice ${who}`,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => {}); // No action is needed here, because the event `end` follows each error and resolves `ended`.
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  await client.connect();
  return { client, ended };
}

/**
 * Takes the advisory locks of the role, which the connection holds until it ends.
 * @throws AlreadyServedError for a `serve` if another `serve` still holds its lock after 3 s
 * @throws EmbeddedPostgresError if an `exclusive` process still uses PostgreSQL after 3 s, or if this process is `exclusive` and another one does
 */
export async function claimRole(presence: Presence, role: Role, dataDir: string, signal: AbortSignal): Promise<void> {
  const isExclusive = role === 'exclusive';
  const take = isExclusive ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared';
  if (!(await claim(presence, take, USE_LOCK, signal))) {
    throw inUseError(dataDir, isExclusive);
  }
  if (role === 'serve' && !(await claim(presence, 'pg_try_advisory_lock', SERVE_LOCK, signal))) {
    throw new AlreadyServedError(dataDir);
  }
}

/** Tries to take an advisory lock. @returns false if another process still holds the lock after 3 s */
async function claim({ client }: Presence, take: string, key: number, signal: AbortSignal): Promise<boolean> {
  for (const deadlineMs = Date.now() + CLAIM_MS; ; await sleep(CLAIM_POLL_MS, undefined, { signal })) {
    const { rows } = await client.query<{ taken: boolean }>(`SELECT ${take}($1) AS taken`, [key]);
    if (rows[0]?.taken || Date.now() > deadlineMs) {
      return rows[0]?.taken === true;
    }
  }
}

/**
 * Releases the locks of this process. Returns true if no other process uses PostgreSQL. Then no other process can begin to use PostgreSQL
 * until this connection ends.
 */
export async function leaveAsLast({ client }: Presence): Promise<boolean> {
  await client.query('SELECT pg_advisory_unlock_all()');
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [USE_LOCK]);
  return rows[0]?.taken === true;
}

/** Creates a database if it is missing. */
export async function createDatabase({ client }: Presence, name: string): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) {
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`).catch((error: { code?: string }) => {
      // Another process has created the database since the SELECT (42P04), or at the same moment (23505).
      if (error.code !== '42P04' && error.code !== '23505') {
        throw error;
      }
    });
  }
}
