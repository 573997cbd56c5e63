import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { type Database, types } from './database.ts';
import { setLayout } from './layout.ts';
import type { DB } from './types.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Settings of a transaction that copies tables. The settings before `statement_timeout` decide how COPY writes values as text. They are the
 * same on each server, so that each server can read the text of another server. The timeouts are off, because the copy of a large table
 * takes long.
 *
 * The settings are made with `SET LOCAL`, which works behind a connection pooler. It also takes no snapshot, so the tables can be locked
 * before the snapshot is taken.
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
 * Connects one plain client of pg, because a stream of COPY needs the connection for itself.
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
  client.on('error', () => {}); // A lost connection also makes the statement or the stream under way fail.
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Begins a transaction with the settings that both sides of a transfer need. */
export async function beginTransfer(client: pg.Client, mode: string): Promise<void> {
  await client.query(`BEGIN ISOLATION LEVEL ${mode}`);
  for (const [name, value] of Object.entries(SETTINGS)) {
    await client.query(`SET LOCAL ${name} = '${value}'`);
  }
}

/**
 * Returns a database whose statements run on this connection, inside the transaction that is open there. The returned database must not be
 * destroyed, and must not be given to a function that begins a transaction of its own.
 */
export function databaseOn(client: pg.Client): Database {
  // A client without a pool has no `release`, so this object adds it. `query` is bound, because pg keeps its state in fields of the client.
  const lent = { query: client.query.bind(client), release: () => {} };
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => Promise.resolve(lent as never), end: () => Promise.resolve() },
    }),
  });
  setLayout(db, 'one node');
  return db;
}
