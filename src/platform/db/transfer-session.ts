import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { poolerOf } from '../lib/postgres-url.ts';
import { type Database, types } from './database.ts';
import { newClient } from './new-client.ts';
import { localSettings } from './session.ts';
import type { DB } from './types.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Opens a connection outside the pool, because a stream of COPY needs the connection for itself.
 * @throws the error of pg if the database is out of reach
 */
export async function connectForTransfer(url: string): Promise<pg.Client> {
  const client = newClient(url, {
    application_name: 'roomservice transfer',
    hasNoTimeLimit: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
  });
  client.on('error', () => {}); // If the connection is lost, the running statement or stream fails too, so this event needs no handling.
  try {
    await client.connect();
  } catch (error) {
    // The client of pg never ends if the server has refused the TLS handshake. So this function does not wait for the end.
    void client.end().catch(() => {});
    throw error;
  }
  return client;
}

/**
 * Begins a transaction that copies tables, without a time limit, because the copy of a large table takes long.
 * @param url the URL that the client is connected to
 */
export async function beginTransfer(client: pg.Client, url: string, mode: string): Promise<void> {
  if (poolerOf(url) === 'none') {
    await client.query(`BEGIN ISOLATION LEVEL ${mode}`);
    return;
  }
  // Only PostgreSQL 17 and later have this limit. It is looked for before the BEGIN, because no statement may take a snapshot before the
  // tables are locked.
  const { rows } = await client.query(`SELECT FROM pg_settings WHERE name = 'transaction_timeout'`);
  const noTimeout = rows.length > 0 ? '; SET LOCAL transaction_timeout = 0' : '';
  await client.query(`BEGIN ISOLATION LEVEL ${mode}; ${localSettings({ hasNoTimeLimit: true })}${noTimeout}`);
}

/**
 * Returns a database whose statements run on this connection, inside its open transaction. The caller must not destroy the returned
 * database, and must not pass it to a function that begins a transaction.
 */
export function databaseOn(client: pg.Client): Database {
  // Kysely calls `release`, but a client without a pool does not have it. `query` is bound, because pg keeps its state in fields of the
  // client.
  const lent = { query: client.query.bind(client), release: () => {} };
  return new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => Promise.resolve(lent as never), end: () => Promise.resolve() },
    }),
  });
}
