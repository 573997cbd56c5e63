import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { type Database, types } from './database.ts';
import { setLayout } from './layout.ts';
import type { DB } from './types.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Settings of a transaction that copies tables.
 * - The settings from `client_encoding` to `extra_float_digits` decide how COPY writes values as text. The source and the target of the
 *   copy use the same settings, so the target can read the text of the source.
 * - The three timeouts are off, because the copy of a large table takes long.
 *
 * The settings are made with `SET LOCAL`, because it works behind a connection pooler. `SET LOCAL` also takes no snapshot, so the tables
 * can be locked before the transaction takes its snapshot.
 */
const SETTINGS = {
  client_encoding: 'UTF8',
  datestyle: 'ISO',
  timezone: 'UTC',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '3',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/**
 * Opens a connection outside the pool, because a stream of COPY needs the connection for itself.
 * @throws the error of pg if the database is out of reach
 */
export async function connectForTransfer(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'roomservice transfer',
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

/** Begins a transaction with `SETTINGS`. The source and the target of a transfer both need them. */
export async function beginTransfer(client: pg.Client, mode: string): Promise<void> {
  await client.query(`BEGIN ISOLATION LEVEL ${mode}`);
  for (const [name, value] of Object.entries(SETTINGS)) {
    await client.query(`SET LOCAL ${name} = '${value}'`);
  }
}

/**
 * Returns a database whose statements run on this connection, inside its open transaction. The caller must not destroy the returned
 * database, and must not pass it to a function that begins a transaction.
 */
export function databaseOn(client: pg.Client): Database {
  // Kysely calls `release`, but a client without a pool does not have it. `query` is bound, because pg keeps its state in fields of the
  // client.
  const lent = { query: client.query.bind(client), release: () => {} };
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => Promise.resolve(lent as never), end: () => Promise.resolve() },
    }),
  });
  setLayout(db, 'one node');
  return db;
}
