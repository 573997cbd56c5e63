import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { eventually } from '#test/support/webhooks.ts';
import { createDatabase, type Database } from './database.ts';
import { migrateToLatest } from './migrate.ts';

describe('migrateToLatest', { skip: (await isTestCluster()) && 'its migrations make tables without a tenant' }, () => {
  let database: TestDatabase;
  let folder: string;
  let pools: Database[];
  /** Number of calls of `migrate` that have waited for a lock. */
  let waits: number;
  beforeEach(async () => {
    database = await createTestDatabase();
    // The tests have their own migrations, so the database must have no list of applied migrations.
    await sql`DROP TABLE kysely_migration`.execute(database.db);
    folder = await mkdtemp(join(tmpdir(), 'roomservice-migrations-'));
    pools = [];
    waits = 0;
    await add('0001_thing', 'CREATE TABLE thing (value int);');
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.destroy()));
    await database.drop();
    await rm(folder, { recursive: true });
  });

  const add = (name: string, text: string) => writeFile(join(folder, `${name}.sql`), text);
  /** Migrates the database with a new pool, as a separate process would. */
  function migrate(giveUpMs?: number) {
    const pool = createDatabase({ url: database.url, poolSize: 1 });
    pools.push(pool);
    return migrateToLatest(pool, { folder, onWait: () => void (waits += 1), giveUpMs });
  }
  async function countLocks(): Promise<number | undefined> {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    `.execute(database.db);
    return rows[0]?.count;
  }
  async function isWaitingFor(table: string): Promise<boolean> {
    const { rows } = await sql`SELECT FROM pg_locks WHERE relation = ${table}::regclass AND NOT granted`.execute(
      database.db,
    );
    return rows.length > 0;
  }

  it('applies each missing migration once, even if four processes call it at the same time, and leaves no lock', async () => {
    await add('0002_value', 'INSERT INTO thing VALUES (1); INSERT INTO thing VALUES (2);');
    const results = await Promise.all([migrate(), migrate(), migrate(), migrate()]);
    assert.deepEqual(
      results.flatMap(({ applied }) => applied),
      ['0001_thing', '0002_value'],
    );
    const { rows } = await sql`SELECT value FROM thing ORDER BY value`.execute(database.db);
    assert.deepEqual(rows, [{ value: 1 }, { value: 2 }]);
    assert.equal(await countLocks(), 0);
    assert.ok(waits <= 3, `${waits} calls waited`);
  });

  it('if no migration is missing, migrateToLatest ends while another transaction still holds the advisory lock for migrations', async () => {
    await migrate();
    await database.db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(3853314791062309107)`.execute(tx);
      assert.deepEqual(await migrate(), { applied: [], newer: [] });
    });
  });

  it('waits for a process that holds the lock, reports the wait once, and then continues', async () => {
    let migrated: Promise<unknown> | undefined;
    await database.db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(3853314791062309107)`.execute(tx);
      migrated = migrate();
      await eventually(() => waits > 0, 'the wait');
      await sleep(300);
    });
    assert.deepEqual([await migrated, waits], [{ applied: ['0001_thing'], newer: [] }, 1]);
  });

  it('works with a database of a newer version, and returns the names of its unknown migrations', async () => {
    await migrate();
    await sql`INSERT INTO kysely_migration VALUES ('0003_b', ''), ('0002_a', '')`.execute(database.db);
    assert.deepEqual(await migrate(), { applied: [], newer: ['0002_a', '0003_b'] });
  });

  it('refuses a database that has an unknown migration and lacks a known one, and changes nothing', async () => {
    await migrate();
    await sql`INSERT INTO kysely_migration VALUES ('0002_other', '')`.execute(database.db);
    await add('0002_mine', 'CREATE TABLE mine ();');
    await assert.rejects(migrate(), /made this database \(0002_other\), and no release reads it/);
    const { rows } = await sql`SELECT to_regclass('mine') AS mine`.execute(database.db);
    assert.deepEqual(rows, [{ mine: null }]);
  });

  it('if a migration fails, nothing is changed, and when it is corrected, the next call of migrateToLatest applies all missing migrations', async () => {
    await add('0002_value', 'INSERT INTO thing VALUES (1); SELECT 1 / 0;');
    await assert.rejects(
      migrate(),
      /^OperatorError: The migration 0002_value of the database failed: division by zero$/,
    );
    const { rows } = await sql`SELECT to_regclass('thing') AS thing`.execute(database.db);
    assert.deepEqual(rows, [{ thing: null }]);
    await add('0002_value', 'INSERT INTO thing VALUES (2);');
    assert.deepEqual(await migrate(), { applied: ['0001_thing', '0002_value'], newer: [] });
    assert.deepEqual((await sql`SELECT value FROM thing`.execute(database.db)).rows, [{ value: 2 }]);
  });

  it('a migration that waits for a lock delays readers by less than 0.8 s, reports the wait once, and succeeds when the lock is free', async () => {
    await migrate();
    await add('0002_column', 'ALTER TABLE thing ADD COLUMN other int;');
    let migrated: Promise<unknown> | undefined;
    await database.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM thing`.execute(tx);
      migrated = migrate();
      const delaysMs: number[] = [];
      for (let tries = 0; tries < 3; tries += 1) {
        await eventually(() => isWaitingFor('thing'), 'the wait of the migration');
        const startMs = performance.now();
        await sql`SELECT FROM thing`.execute(database.db); // Waits until the migration stops waiting.
        delaysMs.push(performance.now() - startMs);
      }
      // A stall of the machine may delay one of the readers. A migration that waits too long for the lock delays all three.
      const [, median = Number.POSITIVE_INFINITY] = delaysMs.sort((a, b) => a - b);
      assert.ok(median < 800, `readers waited ${delaysMs.join(', ')} ms behind the migration`);
    });
    assert.deepEqual([await migrated, waits], [{ applied: ['0002_column'], newer: [] }, 1]);
  });

  it('if a migration and another transaction would deadlock, the transaction commits, and the migration then succeeds', async () => {
    await add('0001_thing', 'CREATE TABLE thing (value int); CREATE TABLE part (value int);');
    await migrate();
    await add('0002_columns', 'ALTER TABLE thing ADD COLUMN other int; ALTER TABLE part ADD COLUMN other int;');
    let migrated: Promise<unknown> | undefined;
    await database.db.transaction().execute(async (tx) => {
      // By default, PostgreSQL would end this transaction if the migration stalled for longer than a second.
      await sql`SET LOCAL deadlock_timeout = '1min'`.execute(tx);
      await sql`INSERT INTO part VALUES (1)`.execute(tx);
      migrated = migrate();
      await eventually(() => isWaitingFor('part'), 'the wait of the migration for the second table');
      // The migration has locked the table `thing`. It waits for the table `part`, which this transaction has locked. The INSERT waits for
      // `thing`. The migration soon stops waiting and undoes its work, which unlocks `thing`. The INSERT can then run.
      await sql`INSERT INTO thing VALUES (1)`.execute(tx);
    });
    assert.deepEqual([await migrated, waits], [{ applied: ['0002_columns'], newer: [] }, 1]);
  });

  it('a migration gives up if a lock is not free in time, changes nothing, and says what to do', async () => {
    await add('0001_thing', 'CREATE TABLE thing (value int); CREATE TABLE part (value int);');
    await migrate();
    await add('0002_columns', 'ALTER TABLE thing ADD COLUMN other int; ALTER TABLE part ADD COLUMN other int;');
    await database.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM part`.execute(tx);
      await assert.rejects(
        migrate(700),
        /^OperatorError: The migrations of the database failed: canceling statement due to lock timeout\. Transactions of other clients hold locks on its tables/,
      );
    });
    const { rows } = await sql`SELECT FROM pg_attribute WHERE attname = 'other'`.execute(database.db);
    assert.deepEqual(rows, []);
  });
});
