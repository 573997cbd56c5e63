import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { checkServicesOf } from '../suites/routing/service-database.ts';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';
import { runFolder } from './run-folder.ts';
import { openCluster, OUTSIDE_URL, testLayout } from './test-cluster.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Address of the PostgreSQL of the tests, and the name of the template from which the test databases are cloned. */
interface TestServer {
  url: string;
  template: string;
}

/** Environment variable with the `TestServer` of this test run as JSON. The test processes inherit it. */
const VARIABLE = 'TEST_SERVER';

/** Makes each test process that starts later use this PostgreSQL. The caller must keep the PostgreSQL open until the test run ends. */
export function shareTestServer({ url, template }: TestServer): void {
  process.env[VARIABLE] = JSON.stringify({ url, template });
}

/**
 * Opens the PostgreSQL of the tests. In a whole test run, all processes use the PostgreSQL that the run has started. Without such a run,
 * the processes of this checkout share one PostgreSQL. The first process starts it, and the last process that closes it stops it.
 */
export async function openTestServer(): Promise<TestServer & { close(): Promise<void> }> {
  const shared = process.env[VARIABLE];
  if (shared !== undefined) {
    return { ...(JSON.parse(shared) as TestServer), close: async () => {} };
  }
  const { url, close } =
    OUTSIDE_URL === undefined ? await openOwnServer() : { url: OUTSIDE_URL, close: async () => {} };
  return { url, template: await ensureTemplate(url), close };
}

function openOwnServer(): Promise<{ url: string; close(): Promise<void> }> {
  const name = createHash('sha256').update(ROOT).digest('hex').slice(0, 12);
  return openEmbeddedPostgres({
    dataDir: join(runFolder() ?? tmpdir(), `roomservice-test-${process.getuid?.() ?? 0}-${name}`),
    role: 'command',
    // The tests kill processes but never cut the power, so PostgreSQL need not sync its files to disk.
    // Commits stay synchronous: until a commit is written, VACUUM leaves its pages out of the visibility map, and plans read more.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
  });
}

export interface TestDatabase {
  db: Database;
  url: string;
  drop(): Promise<void>;
}

/** Makes a database with all migrations. It is a clone of a template, because a clone is fast. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await openTestServer();
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copying the files of the template takes half as long as the default strategy, which also writes each page to the WAL.
  await onEachNode(server.url, `CREATE DATABASE ${name} TEMPLATE ${server.template} STRATEGY FILE_COPY`);
  const url = urlOf(server.url, name);
  const db = checkServicesOf(createDatabase({ url, poolSize: 10, layout: await testLayout() }));
  return {
    db,
    url,
    async drop() {
      await db.destroy();
      await onEachNode(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
      await server.close();
    },
  };
}

/**
 * Makes a database without tables on the server of another one, until the test ends.
 * @param options further words of CREATE DATABASE, for example its encoding
 */
export async function createEmptyDatabase(t: TestContext, { db, url }: TestDatabase, options = ''): Promise<URL> {
  const empty = new URL(url);
  empty.pathname = `/empty_${randomBytes(6).toString('hex')}`;
  const name = empty.pathname.slice(1);
  await sql.raw(`CREATE DATABASE ${name} TEMPLATE template0 ${options}`).execute(db);
  t.after(() => sql.raw(`DROP DATABASE ${name} WITH (FORCE)`).execute(db));
  return empty;
}

export async function countTables({ href: url }: URL): Promise<number> {
  const db = createDatabase({ url, poolSize: 1 });
  const { rows } = await sql`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`.execute(db);
  await db.destroy();
  return rows.length;
}

export interface ClusterDatabase extends TestDatabase {
  /** Proxies between the coordinator and the worker nodes. */
  proxies: DatabaseProxy[];
}

/** Makes a database on the cluster (Citus) of `TEST_DATABASE_URL`, whose nodes can be reached through `proxies`. */
export async function createClusterDatabase(): Promise<ClusterDatabase> {
  const onCluster = await openCluster();
  if (onCluster === null) {
    throw new Error('TEST_DATABASE_URL does not lead to a cluster.');
  }
  const { url: serverUrl } = await openTestServer();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = urlOf(serverUrl, name);
  await onEachNode(serverUrl, `CREATE DATABASE ${name}`);
  const proxies: DatabaseProxy[] = [];
  await onCluster.join(name, async (nodeUrl) => {
    const proxy = await startDatabaseProxy(nodeUrl, 1);
    proxies.push(proxy);
    return proxy.url;
  });
  await migrate(url);
  const db = createDatabase({ url, poolSize: 10, layout: 'cluster' });
  return {
    db,
    url,
    proxies,
    async drop() {
      await db.destroy();
      await onEachNode(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}

/**
 * Makes the template database if it is missing. Its name contains a hash of the migrations and of the rules for a cluster, so a change of
 * them gets a new template.
 * @returns the name of the template
 */
async function ensureTemplate(serverUrl: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of readdirSync(join(ROOT, 'migrations')).sort()) {
    hash.update(readFileSync(join(ROOT, 'migrations', file)));
  }
  hash.update(readFileSync(join(ROOT, 'src/platform/db/distribution.ts')));
  const template = `template_${hash.digest('hex').slice(0, 12)}`;
  if (!(await exists(serverUrl, template))) {
    await makeTemplate(serverUrl, template);
  }
  return template;
}

/** Makes the template under another name first, so that no other process finds an unfinished one. */
async function makeTemplate(serverUrl: string, template: string): Promise<void> {
  const draft = `draft_${randomBytes(6).toString('hex')}`;
  await onEachNode(serverUrl, `CREATE DATABASE ${draft}`);
  await (await openCluster())?.join(draft);
  await migrate(urlOf(serverUrl, draft));
  // Citus keeps a connection to each database, and PostgreSQL copies only a database without connections.
  await onEachNode(serverUrl, `ALTER DATABASE ${draft} ALLOW_CONNECTIONS false`);
  await onEachNode(serverUrl, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${draft}'`);
  await onEachNode(serverUrl, `ALTER DATABASE ${draft} RENAME TO ${template}`).catch(async (error: unknown) => {
    await onEachNode(serverUrl, `DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
    if (!(await exists(serverUrl, template))) {
      throw error;
    }
  });
}

async function migrate(url: string): Promise<void> {
  const db = createDatabase({ url, poolSize: 2, hasNoTimeLimit: true, isPrepared: false });
  try {
    await migrateToLatest(db);
  } finally {
    await db.destroy();
  }
}

async function exists(serverUrl: string, name: string): Promise<boolean> {
  const rows = await administrate(serverUrl, `SELECT 1 FROM pg_database WHERE datname = '${name}'`);
  return rows.length > 0;
}

/** Runs one statement in the database `postgres` of the server, and of each other node if the server is a cluster. */
async function onEachNode(serverUrl: string, statement: string): Promise<void> {
  const nodeUrls = (await openCluster())?.nodeUrls ?? [serverUrl];
  await Promise.all(nodeUrls.map((nodeUrl) => administrate(nodeUrl, statement)));
}

/** Pools with one connection to the database `postgres`, which stays open, by the URL of the server. */
const administration = new Map<string, pg.Pool>();

/** Tries again if another session clones the same template (SQLSTATE 55006). */
async function administrate(serverUrl: string, statement: string): Promise<unknown[]> {
  const pool = administration.get(serverUrl) ?? openAdministration(serverUrl);
  for (let tries = 1; ; tries += 1) {
    try {
      return (await pool.query(statement)).rows;
    } catch (error) {
      if (tries > 50 || (error as { code?: string }).code !== '55006') {
        throw error;
      }
      await sleep(50);
    }
  }
}

function openAdministration(serverUrl: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: urlOf(serverUrl, 'postgres'),
    max: 1,
    idleTimeoutMillis: 0,
    // An idle connection does not keep this process running.
    allowExitOnIdle: true,
  });
  // PostgreSQL may end while this process still runs. The idle connection then reports an error, which is expected.
  pool.on('error', () => {});
  administration.set(serverUrl, pool);
  return pool;
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function rowsOf({ db }: TestDatabase, tables: string[]): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const table of tables) {
    const read = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.table(table)} AS t ORDER BY 1`.execute(db);
    rows[table] = read.rows.map(({ row }) => row);
  }
  return rows;
}
