import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Opens the PostgreSQL that all test files of this checkout share. The first test process that opens PostgreSQL starts
 * it, and the last test process that closes it stops it.
 */
export async function openTestServer() {
  const name = createHash('sha256').update(ROOT).digest('hex').slice(0, 12);
  return await openEmbeddedPostgres({
    dataDir: join(tmpdir(), `roomservice-test-${process.getuid?.() ?? 0}-${name}`),
    role: 'command',
    // The tests kill processes but never cut the power, so PostgreSQL need not sync its files to disk.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
}

export interface TestDatabase {
  db: Database;
  url: string;
  drop(): Promise<void>;
}

/**
 * Makes a database for one test file. It is a clone of a template database that has all migrations, because a clone is
 * fast. The test file calls `drop` at its end.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await openTestServer();
  const template = await ensureTemplate(server.url);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administrate(server.url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = urlOf(server.url, name);
  const db = createDatabase({ url, poolSize: 10 });
  return {
    db,
    url,
    async drop() {
      await db.destroy();
      await administrate(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
      await server.close();
    },
  };
}

/**
 * Makes the template database if it is missing. Its name contains a hash of the migrations, so changed migrations get a
 * new template.
 * @returns the name of the template
 */
export async function ensureTemplate(serverUrl: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of readdirSync(join(ROOT, 'migrations')).sort()) {
    hash.update(readFileSync(join(ROOT, 'migrations', file)));
  }
  const template = `template_${hash.digest('hex').slice(0, 12)}`;
  if (!(await exists(serverUrl, template))) {
    await makeTemplate(serverUrl, template);
  }
  return template;
}

/**
 * Makes the template under a temporary name and then renames it. So if two test files start at the same time, neither
 * of them gets an unfinished template.
 */
async function makeTemplate(serverUrl: string, template: string): Promise<void> {
  const draft = `draft_${randomBytes(6).toString('hex')}`;
  await administrate(serverUrl, `CREATE DATABASE ${draft}`);
  const db = createDatabase({ url: urlOf(serverUrl, draft), poolSize: 2 });
  await migrateToLatest(db);
  await db.destroy();
  await administrate(serverUrl, `ALTER DATABASE ${draft} RENAME TO ${template}`).catch(async (error: unknown) => {
    await administrate(serverUrl, `DROP DATABASE ${draft} WITH (FORCE)`);
    if (!(await exists(serverUrl, template))) {
      throw error;
    }
  });
}

async function exists(serverUrl: string, name: string): Promise<boolean> {
  const rows = await administrate(serverUrl, `SELECT 1 FROM pg_database WHERE datname = '${name}'`);
  return rows.length > 0;
}

/**
 * Runs one statement in the database `postgres`. Retries if the statement fails because another session clones the same
 * template (SQLSTATE 55006).
 */
async function administrate(serverUrl: string, statement: string): Promise<unknown[]> {
  for (let tries = 1; ; tries += 1) {
    const client = new pg.Client({ connectionString: urlOf(serverUrl, 'postgres') });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query(statement)).rows;
    } catch (error) {
      if (tries > 50 || (error as { code?: string }).code !== '55006') {
        throw error;
      }
      await sleep(50);
    } finally {
      await client.end();
    }
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
