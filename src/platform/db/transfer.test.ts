import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { noCopies } from '#test/support/test-cluster.ts';
import { OperatorError } from '../errors.ts';
import { findMigrations, readRelations, TRANSIENT_TABLES } from './transfer-contents.ts';
import { digestTables } from './transfer-digest.ts';
import { beginTransfer, connectForTransfer, databaseOn } from './transfer-session.ts';
import { openSource } from './transfer-source.ts';
import { type Load, loadDatabase, type RowCounts } from './transfer-target.ts';

let from: TestDatabase;
const databases: TestDatabase[] = [];
const newDatabase = async () => {
  const database = await createTestDatabase();
  databases.push(database);
  return database;
};
before(async () => {
  from = await newDatabase();
});
after(async () => {
  for (const database of databases) {
    await database.drop();
  }
});

async function transfer(to: TestDatabase, beforeCommit?: Load['beforeCommit']): Promise<RowCounts> {
  const source = await openSource(from.url);
  try {
    const load = { contents: source.contents, open: source.read };
    return await loadDatabase(to.url, { ...load, ...(beforeCommit ? { beforeCommit } : {}) });
  } finally {
    await source.close();
  }
}

async function insertTenant(name: string): Promise<void> {
  await sql`INSERT INTO tenant (slug, name, currency, timezone, features)
    VALUES (${randomUUID()}, ${name}, 'EUR', 'UTC', '{hotel}')`.execute(from.db);
}

async function rowsOf({ db }: TestDatabase, table: string): Promise<unknown[]> {
  return (await sql`SELECT t::text AS row FROM ${sql.ref(table)} AS t ORDER BY 1`.execute(db)).rows;
}

const isNotEmpty = (error: unknown) =>
  error instanceof OperatorError && error.message.startsWith('The database is not empty');

describe('transfer of a database', { skip: noCopies }, () => {
  it('each table of a migrated database is either copied, or listed as a table whose rows are not copied', async () => {
    const client = await connectForTransfer(from.url);
    const relations = await readRelations(client);
    await client.end();
    const source = await openSource(from.url);
    await source.close();
    const copied = source.contents.tables.map(({ name }) => name);
    const listed = Object.keys(TRANSIENT_TABLES).filter((name) => relations.includes(name));
    assert.deepEqual([...copied, ...listed].sort(), relations);
  });

  it('a transfer keeps texts with line breaks, tabs, backslashes and Unicode, bytes of every value, and the next tenant id', async () => {
    const texts = ['\\N', '\\.', 'a\tb\nc\rd\\e', '', 'ü😀', ...fc.sample(fc.string({ unit: 'grapheme' }), 200)];
    for (const text of texts) {
      await insertTenant(text.replaceAll('\0', ''));
    }
    await sql`INSERT INTO service_key (purpose, version, wrapped_key)
      SELECT 'encryption', n, ${randomBytes(512)}::bytea || set_byte('x', 0, n % 256) FROM generate_series(1, 300) AS n`.execute(
      from.db,
    );
    const to = await newDatabase();
    const counts = await transfer(to);
    assert.equal(counts['tenant'], texts.length);
    for (const table of Object.keys(counts)) {
      assert.deepEqual(await rowsOf(to, table), await rowsOf(from, table), table);
    }
    const { rows } = await sql<{ id: number }>`SELECT nextval('tenant_id_seq') AS id`.execute(to.db);
    assert.equal(rows[0]?.id, texts.length + 1);
    await assert.rejects(transfer(to), isNotEmpty);
  });

  it('a transfer that fails before its commit leaves an empty database, and can run again', async () => {
    const to = await newDatabase();
    await assert.rejects(
      transfer(to, async (db, counts) => {
        const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM tenant`.execute(db);
        assert.ok(counts['tenant']);
        assert.equal(rows[0]?.count, counts['tenant'], 'the hook sees the loaded rows');
        await db.updateTable('feed_era').set({ era: 7 }).execute();
        throw new Error('stopped');
      }),
      /stopped/,
    );
    assert.deepEqual(await rowsOf(to, 'tenant'), []);
    assert.deepEqual(await rowsOf(to, 'feed_era'), [{ row: '(t,0)' }]);
    assert.ok((await transfer(to))['tenant']);
  });

  it('the digests of a table in the source and in the target are equal, and differ after one character of one row is changed', async () => {
    const to = await newDatabase();
    await transfer(to);
    const source = await openSource(from.url);
    const client = await connectForTransfer(to.url);
    await beginTransfer(client, to.url, 'READ COMMITTED READ WRITE');
    const expected = await digestTables(source.db, source.contents.tables);
    await source.close();
    const copy = databaseOn(client);
    assert.deepEqual(await digestTables(copy, source.contents.tables), expected);
    await sql`UPDATE tenant SET name = name || '.' WHERE id = (SELECT min(id) FROM tenant)`.execute(copy);
    const changed = await digestTables(copy, source.contents.tables);
    await client.end();
    assert.ok(expected.get('tenant')?.rows);
    assert.equal(changed.get('tenant')?.rows, expected.get('tenant')?.rows);
    assert.notEqual(changed.get('tenant')?.sum, expected.get('tenant')?.sum);
  });

  it('of two transfers at the same time into one database, exactly one is refused', async () => {
    const to = await newDatabase();
    const ends = await Promise.allSettled([transfer(to), transfer(to)]);
    const [refused, ...others] = ends.filter((end) => end.status === 'rejected');
    assert.ok(refused && isNotEmpty(refused.reason));
    assert.equal(others.length, 0);
  });

  it('a transfer into a database that has a table of another program is refused, even if that table is empty', async () => {
    const to = await newDatabase();
    await sql`CREATE TABLE theirs (id int)`.execute(to.db);
    await assert.rejects(transfer(to), isNotEmpty);
  });

  it('a source that a newer version has migrated is refused', async () => {
    const newer = await newDatabase();
    await sql`INSERT INTO kysely_migration VALUES ('9999_future', '')`.execute(newer.db);
    await assert.rejects(openSource(newer.url), /newer version of roomservice \(9999_future\)/);
  });

  it('if a transfer locks its source database, a transaction that writes to this database waits until the transfer closes the source, and then succeeds', async () => {
    const source = await openSource(from.url, { isLocked: true });
    const writing = insertTenant('late').then(() => 'written');
    const isWaiting = await Promise.race([writing, new Promise((resolve) => setTimeout(resolve, 200, 'waiting'))]);
    await source.close();
    assert.deepEqual([isWaiting, await writing], ['waiting', 'written']);
  });

  it('a table of 70 MB is transferred with every row, and the rows of transient tables are not transferred', async () => {
    await sql`INSERT INTO recent_change (id, tenant_id) SELECT gen_random_uuid(), 1`.execute(from.db);
    // One statement for all rows could exceed the time limit of a statement (10 s) on a busy machine.
    for (let part = 0; part < 7; part += 1) {
      await sql`INSERT INTO tenant (slug, name, currency, timezone, features)
        SELECT gen_random_uuid()::text, repeat('x', 1000), 'EUR', 'UTC', '{hotel}' FROM generate_series(1, 10000)`.execute(
        from.db,
      );
    }
    const to = await newDatabase();
    const { tenant } = await transfer(to);
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM tenant`.execute(from.db);
    assert.equal(tenant, rows[0]?.count);
    assert.deepEqual(await rowsOf(to, 'recent_change'), []);
    assert.deepEqual(await findIn(to), await findIn(from));
  });
});

async function findIn({ url }: TestDatabase): Promise<string[] | null> {
  const client = await connectForTransfer(url);
  try {
    return await findMigrations(client);
  } finally {
    await client.end();
  }
}
