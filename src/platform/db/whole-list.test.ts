import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { openPlanned, type PlannedDatabase } from '#test/support/plans.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { wholeList } from './whole-list.ts';

const COUNT = 20_000;
const isCluster = await isTestCluster();

describe('wholeList', () => {
  let database: TestDatabase;
  let planned: PlannedDatabase;
  before(async () => {
    database = await createTestDatabase();
    planned = openPlanned(database.url, ['audit_entry'], COUNT);
    await sql`
      INSERT INTO tenant (slug, name, currency, timezone, features) VALUES ('long', 'long', 'EUR', 'UTC', '{hotel}')
    `.execute(database.db);
    await sql`
      INSERT INTO audit_entry (tenant_id, id, at, actor_type, action, subject, details)
      SELECT tenant.id, lpad(n::text, 32, '0')::uuid, now(), 'operator', 'made', n::text, '{}'
      FROM tenant, generate_series(1, ${COUNT}::int) AS n
    `.execute(database.db);
    await sql`VACUUM ANALYZE audit_entry`.execute(database.db);
  });
  after(async () => {
    await planned.db.destroy();
    await database.drop();
  });

  const list = () => {
    const rows = planned.db.selectFrom('audit_entry').where('tenant_id', '=', 1);
    return wholeList(planned.db, rows, (entries) => entries.select(['id', 'subject']));
  };

  it('readPage returns the rows of the page, newest first, and the number of all rows', async () => {
    for (const [offset, limit, expected] of [
      [0, 2, ['20000', '19999']],
      [10_000, 1, ['10000']],
      [19_999, 5, ['1']],
      [20_000, 5, []],
    ] as const) {
      const { count, results } = await list().readPage(offset, limit);
      assert.deepEqual([count, results.map(({ subject }) => subject)], [COUNT, expected]);
    }
  });

  it('readPage finds the last page without a scan of the table, and reads only ids before it', {
    skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
  }, async () => {
    const used = await planned.indexesOf(() => list().readPage(COUNT - 50, 50));
    assert.deepEqual([...used], ['audit_entry_pkey']);
  });
});
