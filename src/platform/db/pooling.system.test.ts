import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { cleanUp, runCommand, startServing } from '#test/support/command.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { findPgbouncer, type Pgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts';
import { withPooler } from '../lib/postgres-url.ts';
import { openDatabase } from './database.ts';
import { inTransaction, runTransaction } from './transaction.ts';

const version = findPgbouncer();
const skip = version === undefined && 'there is no pgbouncer on PATH';

describe('PgBouncer in transaction mode', { skip }, () => {
  let database: TestDatabase;
  let pgbouncer: Pgbouncer;
  let url: string;
  const MASTER_KEY = randomBytes(32).toString('base64');
  before(async () => {
    database = await createTestDatabase();
    pgbouncer = await startPgbouncer(database.url);
    url = withPooler(pgbouncer.urlOf(database.url));
  });
  after(async () => {
    await cleanUp();
    await pgbouncer.close();
    await database.drop();
  });

  const settings = sql<{ timeout: string; style: string }>`
    SELECT current_setting('statement_timeout') AS timeout, current_setting('datestyle') AS style WHERE ${1} = 1`;
  async function countLocks(name: string): Promise<number | undefined> {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = ${name})
    `.execute(database.db);
    return rows[0]?.count;
  }

  it('a command refuses a PgBouncer that drops the settings of the service, names DATABASE_POOLER, and accepts it with this setting', async () => {
    const lenient = await startPgbouncer(database.url, 'ignore_startup_parameters = options');
    const env = { DATABASE_URL: lenient.urlOf(database.url), MASTER_KEY };
    const { code, stderr } = await runCommand(['migrate'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /pooler .+ drops the settings of the service\. Set DATABASE_POOLER to true/);
    const named = await runCommand(['migrate'], { env: { ...env, DATABASE_POOLER: 'true' } });
    assert.equal(named.code, 0, named.stderr);
    await lenient.close();
  });

  it('statements and transactions of 40 callers have their time limit, and leave no setting for other clients of the pooler', async () => {
    const db = openDatabase({ url, poolSize: 40, hasNoTimeLimit: false });
    const expected = [{ timeout: '10s', style: 'ISO, MDY' }];
    const call = async (index: number) =>
      (index % 2 === 0 ? await settings.execute(db) : await inTransaction(db, (tx) => settings.execute(tx))).rows;
    const found = await Promise.all(Array.from({ length: 40 }, (_, index) => call(index)));
    assert.ok(found.every((rows) => JSON.stringify(rows) === JSON.stringify(expected)));
    await db.destroy();
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    assert.deepEqual((await other.query('SHOW statement_timeout')).rows, [{ statement_timeout: '0' }]);
    await other.end();
  });

  it('each mode of a transaction has the isolation that it names, and otherwise read committed, whatever the default of the database is', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await sql`ALTER DATABASE ${sql.ref(name)} SET default_transaction_isolation = 'serializable'`.execute(database.db);
    const fresh = await startPgbouncer(database.url);
    const db = openDatabase({ url: withPooler(fresh.urlOf(database.url)), poolSize: 1 });
    const mode = sql<{ mode: string }>`
      SELECT current_setting('transaction_isolation') || ', ' || current_setting('transaction_read_only') AS mode`;
    const modes = [await mode.execute(db)];
    for (const each of [undefined, 'snapshot'] as const) {
      modes.push(await runTransaction(db, (tx) => mode.execute(tx), each));
    }
    assert.deepEqual(
      modes.map(({ rows }) => rows[0]?.mode),
      ['read committed, off', 'read committed, off', 'repeatable read, on'],
    );
    await db.destroy();
    await fresh.close();
    await sql`ALTER DATABASE ${sql.ref(name)} RESET ALL`.execute(database.db);
  });

  it('while other clients send statements, three concurrent migrate commands all exit 0, and leave no lock', async () => {
    const name = `empty_${randomBytes(6).toString('hex')}`;
    await sql`CREATE DATABASE ${sql.ref(name)}`.execute(database.db);
    const empty = new URL(database.url);
    empty.pathname = `/${name}`;
    const env = {
      DATABASE_URL: pgbouncer.urlOf(empty.href),
      DATABASE_POOLER: 'true',
      MASTER_KEY,
    };
    const traffic = openDatabase({ url: withPooler(env.DATABASE_URL), poolSize: 10 });
    let isOver = false;
    const callers = Array.from({ length: 10 }, async () => {
      while (!isOver) {
        await settings.execute(traffic);
      }
    });
    const ends = await Promise.all([1, 2, 3].map(() => runCommand(['migrate'], { env })));
    isOver = true;
    await Promise.all(callers);
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0, 0],
      ends.map(({ stderr }) => stderr).join(''),
    );
    assert.equal(ends.filter(({ stdout }) => stdout.startsWith('Applied: 0001_')).length, 1);
    assert.equal(await countLocks(name), 0);
    await traffic.destroy();
    await sql`DROP DATABASE ${sql.ref(name)} WITH (FORCE)`.execute(database.db);
  });

  it('201: with DATABASE_POOLER=true, roomservice serve accepts 30 concurrent orders through PgBouncer; without it, the command names the setting', async () => {
    const direct = { DATABASE_URL: pgbouncer.urlOf(database.url), MASTER_KEY };
    const refused = await runCommand(['migrate'], { env: direct });
    assert.match(refused.stderr, /is behind a connection pooler .+Set DATABASE_POOLER to true/);
    const env = { ...direct, DATABASE_POOLER: 'true' };
    const serving = await startServing([], { env });
    const demo = await runCommand(['demo', '--json'], { env });
    assert.equal(demo.code, 0, demo.stderr);
    const { credential } = JSON.parse(demo.stdout) as { credential: { api_key: string; api_secret: string } };
    const headers = { 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret };
    const menu = await (await fetch(`${serving.url}/v1/third-party/menu/`, { headers })).text();
    const sku = /"sku":"([^"]+)"/.exec(menu)?.[1];
    const place = async (index: number) => {
      const body = JSON.stringify({ external_order_id: `pooled-${index}`, items: [{ item_id: sku, quantity: 1 }] });
      const json = { ...headers, 'content-type': 'application/json' };
      return (await fetch(`${serving.url}/v1/third-party/orders/`, { method: 'POST', headers: json, body })).status;
    };
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, index) => place(index)));
    assert.deepEqual([...new Set(statuses)], [201]);
    assert.equal((await fetch(`${serving.url}/readyz`)).status, 200);
    assert.doesNotMatch(serving.output(), /"level":50/);
  });
});
