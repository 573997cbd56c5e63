import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { connectForTransfer } from './transfer-session.ts';

/**
 * Creates an empty database on the server of the URL. `close` drops the new database.
 * @throws the error of pg if the server is out of reach, or if the role may not create databases
 */
export async function createScratchDatabase(serverUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const name = `roomservice_scratch_${randomBytes(6).toString('hex')}`;
  await run(serverUrl, (client) => `CREATE DATABASE ${client.escapeIdentifier(name)}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    close: () => run(serverUrl, (client) => `DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`),
  };
}

async function run(url: string, statement: (client: pg.Client) => string): Promise<void> {
  const client = await connectForTransfer(url);
  try {
    await client.query(statement(client));
  } finally {
    await client.end();
  }
}
