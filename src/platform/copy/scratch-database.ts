import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { withDatabase } from '../db/database.ts';
import { executeOutsideTransaction } from '../db/transaction.ts';

/**
 * Creates an empty database on the server of the URL. Its encoding and its locale do not depend on those of other databases. `close` drops
 * the new database.
 * @throws the error of pg if the server is out of reach, or if the role may not create databases
 */
export async function createScratchDatabase(serverUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const name = `roomservice_scratch_${randomBytes(6).toString('hex')}`;
  await run(serverUrl, sql`CREATE DATABASE ${sql.id(name)} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => run(serverUrl, sql`DROP DATABASE IF EXISTS ${sql.id(name)} WITH (FORCE)`) };
}

/** Runs a statement on the database of the URL. */
async function run(url: string, statement: RawBuilder<unknown>): Promise<void> {
  await withDatabase({ url, poolSize: 1 }, (db) => executeOutsideTransaction(db, statement));
}
