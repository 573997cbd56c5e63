import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { type Database, types } from '../db/database.ts';
import { localSettings, newClient } from '../db/session.ts';
import type { DB } from '../db/types.ts';
import { hasPooler } from '../lib/postgres-url.ts';
import type { TableShape } from './contents.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** Opens a connection outside the pool, because a stream of COPY needs the connection for itself. */
export async function connectForCopy(url: string): Promise<pg.Client> {
  const client = newClient(url, {
    application_name: 'roomservice copy',
    hasNoTimeLimit: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
  });
  try {
    await client.connect();
  } catch (error) {
    // The client of pg never ends if the server has refused the TLS handshake. So this function does not wait for the end.
    void client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Begins a transaction that copies tables, without a time limit. The client must be connected to the URL. */
export async function beginCopy(client: pg.Client, url: string, mode: string): Promise<void> {
  await client.query(`BEGIN ISOLATION LEVEL ${mode}`);
  if (hasPooler(url)) {
    await client.query(localSettings({ hasNoTimeLimit: true }));
  }
}

export function copyName(client: pg.Client, { name, columns }: TableShape): string {
  return `${client.escapeIdentifier(name)} (${columns.map((column) => client.escapeIdentifier(column)).join(', ')})`;
}

/** Streams the rows of a table. The client cannot run another statement until the stream has ended. */
export function readRows(client: pg.Client, table: TableShape): AsyncIterable<Buffer> {
  return client.query(copyTo(`COPY ${copyName(client, table)} TO STDOUT`));
}

/** Returns a database on this connection and its open transaction. The caller must not destroy it, and not begin a transaction. */
export function databaseOn(client: pg.Client): Database {
  // Kysely calls `release`, which this client does not have, and pg keeps its state in fields of the client.
  const lent = { query: client.query.bind(client), release: () => {} };
  return new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => Promise.resolve(lent as never), end: () => Promise.resolve() },
    }),
  });
}
