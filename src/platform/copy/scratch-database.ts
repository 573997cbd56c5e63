import { randomBytes } from 'node:crypto';
import { connectForCopy } from './session.ts';

/**
 * Creates an empty database on the server of the URL. Its encoding and its locale do not depend on those of other databases. `close` drops
 * the new database.
 * @throws the error of pg if the server is out of reach, or if the role may not create databases
 */
export async function createScratchDatabase(serverUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const name = `roomservice_scratch_${randomBytes(6).toString('hex')}`;
  await run(serverUrl, `CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => run(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function run(url: string, statement: string): Promise<void> {
  const client = await connectForCopy(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
