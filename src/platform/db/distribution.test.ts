import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { cleanUp, runCommand } from '#test/support/command.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { place } from '#test/support/restaurant.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { distribute, placementOf, readPlacements } from './distribution.ts';
import { migrateToLatest } from './migrate.ts';
import { TABLES } from './tables.ts';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const isCluster = await isTestCluster();
const onCluster = { skip: !isCluster && 'TEST_DATABASE_URL does not lead to a cluster (Citus)' };
const onOneNode = { skip: isCluster && 'TEST_DATABASE_URL leads to a cluster (Citus)' };

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  await cleanUp();
  await database.drop();
});

describe('the rules for the tables on a cluster', () => {
  it('each table is placed by tenant, which needs tenant_id as its first column, or listed with another place', () => {
    const ofTenants = Object.entries(TABLES).filter(([table]) => placementOf(table) === 'by tenant');
    assert.ok(ofTenants.length > 20, `${ofTenants.length} tables`);
    for (const [table, columns] of ofTenants) {
      assert.equal(Object.keys(columns)[0], 'tenant_id', table);
    }
    assert.equal(placementOf('tenant'), 'on each node');
    assert.equal(placementOf('recent_change'), 'on the coordinator');
  });
});

describe('roomservice cluster on one node', onOneNode, () => {
  for (const [command, env, message] of [
    ['distribute', {}, /roomservice: The database is not a cluster, because it has no extension "citus"/],
    ['verify', {}, /roomservice: The database is not a cluster, because it has no extension "citus"/],
    ['verify', { DATABASE_URL: '' }, /roomservice: DATABASE_URL is not set/],
    [
      'verify',
      { DATABASE_URL: 'postgres://127.0.0.1:1/none' },
      /roomservice: The database at 127.0.0.1:1 is out of reach/,
    ],
  ] as const) {
    it(`if the database cannot be used as a cluster, the command "cluster ${command}" exits 1 and reports: ${message.source}`, async () => {
      const ended = await runCommand(['cluster', command], {
        env: { DATABASE_URL: database.url, MASTER_KEY, ...env },
      });
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, message);
    });
  }
});

describe('the tables on a cluster', onCluster, () => {
  const wrongTables = async () =>
    (await readPlacements(database.db)).filter(({ isRight }) => !isRight).map(({ table }) => table);

  it('after the migrations have run in a new database on a cluster, each table is placed as its rule says, and cluster verify exits 0', async () => {
    assert.deepEqual(await wrongTables(), []);
    const ended = await runCommand(['cluster', 'verify'], { env: { DATABASE_URL: database.url, MASTER_KEY } });
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /^\d+ tables, 0 in the wrong place$/m);
  });

  it('if two tables are on wrong nodes of a cluster, "cluster verify" lists them and exits 1, "cluster distribute" moves them, and a second run moves no table', async () => {
    const service = await startService({ database: { ...database, drop: async () => {} } });
    const env = envOf(service);
    const tenant = await service.tenant();
    assert.equal((await place(service, tenant)).status, 201);
    const countRows = async () => await rowCounts(service);
    const counted = await countRows();
    for (const table of ['audit_entry', 'sign_in']) {
      await undistribute(database, table);
    }
    await sql`SELECT create_reference_table('sign_in')`.execute(database.db);

    const verified = await runCommand(['cluster', 'verify'], { env });
    assert.equal(verified.code, 1);
    assert.match(verified.stdout, /^ {2}audit_entry: is not distributed, must be by tenant$/m);
    assert.match(verified.stdout, /^ {2}sign_in: is on each node, must be on the coordinator$/m);
    const migrated = await runCommand(['migrate'], { env });
    assert.match(migrated.stderr, /The database is a cluster, but 2 of its tables are in the wrong place/);

    const distributed = await runCommand(['cluster', 'distribute'], { env });
    assert.equal(distributed.code, 0, distributed.stderr);
    assert.match(distributed.stdout, /^audit_entry: by tenant \(was not distributed\)$/m);
    assert.deepEqual(await wrongTables(), []);
    assert.deepEqual(await countRows(), counted);
    assert.deepEqual(await distribute(database.db), []);
    assert.equal((await place(service, tenant)).status, 201);
    await service.close();
  });

  it('if a later migration adds a table with foreign keys, the table is placed on the cluster nodes that its rule requires, and keeps its foreign keys', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roomservice-migrations-'));
    await cp(join(import.meta.dirname, '../../../migrations'), folder, { recursive: true });
    await writeFile(
      join(folder, '9999_complaints.sql'),
      `CREATE TABLE complaint (
         tenant_id bigint NOT NULL REFERENCES tenant (id), id uuid, credential_id uuid NOT NULL, PRIMARY KEY (tenant_id, id),
         FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id));
       ALTER TABLE credential ADD COLUMN complaint_count int;`,
    );
    assert.deepEqual((await migrateToLatest(database.db, { folder })).applied, ['9999_complaints']);
    assert.deepEqual(await wrongTables(), []);
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = 'complaint'::regclass`.execute(database.db);
    assert.equal(rows[0]?.count, 2);
    await rm(folder, { recursive: true });
  });
});

/**
 * Turns a table of the cluster into an ordinary PostgreSQL table on the coordinator. Drops its foreign keys first, because Citus refuses
 * this change for a table with foreign keys.
 */
async function undistribute({ db }: TestDatabase, table: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    SELECT conname AS name FROM pg_constraint WHERE contype = 'f' AND conrelid = ${table}::regclass`.execute(db);
  for (const { name } of rows) {
    await sql`ALTER TABLE ${sql.id(table)} DROP CONSTRAINT ${sql.id(name)}`.execute(db);
  }
  await sql`SELECT undistribute_table(${table})`.execute(db);
}

async function rowCounts({ database: { db } }: TestService): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { table } of await readPlacements(db)) {
    const { rows } = await sql<{ count: number }>`SELECT count(*) FROM ${sql.id(table)}`.execute(db);
    counts[table] = rows[0]?.count ?? 0;
  }
  return counts;
}
