import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { createDatabase, type Database } from './database.ts';
import { keysetList, type ListOrder, NEWEST_FIRST, OLDEST_FIRST, type PageForm } from './keyset-list.ts';

const COUNT = 20_000;

/** Order by the action of an entry. Entries with the same action are in the order of their ids. */
const byAction = (tenantId: number): ListOrder => ({
  firstColumn: 'action',
  sort: (rows) => rows.orderBy(sql.ref('action')).orderBy(sql.ref('id')),
  after: (rows, id) =>
    rows.where(sql<boolean>`
      (action, id) > ((SELECT e.action FROM audit_entry AS e WHERE e.tenant_id = ${tenantId} AND e.id = ${id}), ${id}::uuid)`),
});

const isCluster = await isTestCluster();

describe('readPage of keysetList', () => {
  let database: TestDatabase;
  let db: Database;
  const sent: CompiledQuery[] = [];
  let tenantIds: number[];
  before(async () => {
    database = await createTestDatabase();
    db = createDatabase({ url: database.url, poolSize: 4, log: ({ query }) => sent.push(query) });
    tenantIds = await Promise.all(['long', 'short', 'empty'].map(insertTenant));
    await Promise.all([COUNT, 5].map((count, index) => insertEntries(tenantIds[index] ?? 0, count)));
    await sql`VACUUM ANALYZE audit_entry`.execute(database.db);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  async function insertTenant(slug: string): Promise<number> {
    const tenant = { slug, name: slug, currency: 'EUR', timezone: 'UTC', features: ['hotel'] };
    return (await database.db.insertInto('tenant').values(tenant).returning('id').executeTakeFirstOrThrow()).id;
  }

  /** Inserts entries with the subjects 1, 2, 3 and so on, in the order of their ids. */
  async function insertEntries(tenantId: number, count: number): Promise<void> {
    await sql`
      INSERT INTO audit_entry (tenant_id, id, at, actor_type, action, subject, details)
      SELECT ${tenantId}::bigint, lpad(n::text, 32, '0')::uuid, now(), 'operator', 'made ' || n % 7, n::text, '{}'
      FROM generate_series(1, ${count}::int) AS n
    `.execute(database.db);
  }

  async function page(tenantIndex: number, offset: number, limit: number, form = 'in order', order = NEWEST_FIRST) {
    const rows = db.selectFrom('audit_entry').where('tenant_id', '=', tenantIds[tenantIndex] ?? 0);
    const pages: PageForm<'audit_entry'> = form === 'few' || form === 'covered' ? { form, rows } : { form: 'in order' };
    const list = keysetList(db, rows, (entries) => entries.select('subject'), order, pages);
    const { count, results } = await list.readPage(offset, limit);
    return [count, ...results.map(({ subject }) => Number(subject))];
  }

  it('a page starts at its offset, newest row first, and gives the total number of rows in the list', async () => {
    assert.deepEqual(await page(0, 0, 2), [COUNT, COUNT, COUNT - 1]);
    assert.deepEqual(await page(0, 1, 2), [COUNT, COUNT - 1, COUNT - 2]);
    assert.deepEqual(await page(0, COUNT / 2, 2), [COUNT, COUNT / 2, COUNT / 2 - 1]);
    assert.deepEqual(await page(0, COUNT - 3, 5), [COUNT, 3, 2, 1]);
    assert.deepEqual(await page(1, 0, 10), [5, 5, 4, 3, 2, 1]);
  });

  it('a page after the end of a list is empty, and so is every page of an empty list', async () => {
    for (const offset of [5, 6, 429_496_729_400]) {
      assert.deepEqual(await page(1, offset, 10), [5]);
    }
    assert.deepEqual(await page(2, 0, 10), [0]);
    assert.deepEqual(await page(2, 1, 10), [0]);
  });

  it('readPage returns the same rows and the same total count if it scans the list in order, reads all ids of the list or scans a covering index', async () => {
    for (const tenant of [0, 1, 2]) {
      for (const offset of [0, 1, 4, 5, 6, COUNT / 2, COUNT - 3, COUNT, COUNT + 1]) {
        for (const order of [NEWEST_FIRST, OLDEST_FIRST, byAction(tenantIds[tenant] ?? 0)]) {
          const expected = await page(tenant, offset, 4, 'in order', order);
          assert.deepEqual(await page(tenant, offset, 4, 'few', order), expected, `few, ${offset}`);
          assert.deepEqual(await page(tenant, offset, 4, 'covered', order), expected, `covered, ${offset}`);
        }
      }
    }
  });

  it('a list in ascending order starts with the oldest row, in pages and in batches', async () => {
    const entries = db.selectFrom('audit_entry').where('tenant_id', '=', tenantIds[0] ?? 0);
    const list = keysetList(db, entries, (rows) => rows.select(['id', 'subject']), OLDEST_FIRST);
    const last = await list.readPage(COUNT - 3, 5);
    assert.deepEqual(
      [last.count, ...last.results.map(({ subject }) => Number(subject))],
      [COUNT, COUNT - 2, COUNT - 1, COUNT],
    );
    const first = await list.readBatch(null, 2);
    const next = await list.readBatch(first.at(-1)?.id ?? null, 2);
    assert.deepEqual(
      [...first, ...next].map(({ subject }) => subject),
      ['1', '2', '3', '4'],
    );
  });

  it('a query that skips or counts the rows of a list scans only an index', {
    skip: isCluster && 'the plan of a cluster does not show the plan of its nodes as rows',
  }, async () => {
    sent.length = 0;
    await page(0, COUNT / 2, 2);
    const queries = sent.filter((query) => query.sql.includes('"list"'));
    assert.equal(queries.length, 2);
    for (const { sql: text, parameters } of queries) {
      const { rows } = await database.db.executeQuery(CompiledQuery.raw(`EXPLAIN ${text}`, [...parameters]));
      const scans = JSON.stringify(rows).match(/(\w+ )*Scan/g);
      assert.deepEqual(scans, ['Index Only Scan'], text);
    }
  });
});
