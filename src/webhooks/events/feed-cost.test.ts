import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { layoutOf } from '#test/support/test-cluster.ts';
import { readFeed } from './feed.ts';

/**
 * Number of events of each credential. An event gets its position in the feed when a client first reads it. The test gives positions to the
 * first half of the events, as if a client had already read them.
 */
const EVENTS = 60_000;
const LIMIT = 50;

describe('cost of a call of the event feed', () => {
  let service: TestService;
  let tenant: TestTenant;
  let db: Database;
  let statements: CompiledQuery[];
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    const { credential: other } = await service.credential(tenant.tenantId);
    for (const id of [tenant.credential.id, other.id]) {
      await sql`
        INSERT INTO event (tenant_id, id, credential_id, type, body, subject, created_at, feed_position)
        SELECT ${tenant.tenantId}, gen_random_uuid(), ${id}::uuid, 'order.status_changed', '{}', '{}', now(),
          CASE WHEN n <= ${EVENTS / 2} THEN n END
        FROM generate_series(1, ${EVENTS}) AS n`.execute(service.database.db);
      await sql`
        INSERT INTO delivery (tenant_id, id, credential_id, status)
        SELECT tenant_id, id, credential_id, 'delivered' FROM event WHERE credential_id = ${id}`.execute(
        service.database.db,
      );
      await sql`INSERT INTO event_feed VALUES (${tenant.tenantId}, ${id}::uuid, ${EVENTS / 2})`.execute(
        service.database.db,
      );
    }
    db = createDatabase({
      url: service.database.url,
      poolSize: 2,
      layout: layoutOf(service.database.db),
      log: ({ query }) => statements.push(query),
    });
  });
  beforeEach(async () => {
    statements = [];
    await sql`VACUUM ANALYZE event, delivery`.execute(service.database.db);
  });
  after(async () => {
    await db.destroy();
    await service.close();
  });

  const read = async (cursor: string, credentialId = tenant.credential.id) =>
    await readFeed(db, { tenantId: tenant.tenantId, credentialId }, { after: cursor, limit: LIMIT });

  /**
   * Runs a statement that `readFeed` has already run, now with EXPLAIN, and rolls it back. Returns the number of table and index pages that
   * the statement read.
   */
  async function pagesTouched({ sql: text, parameters }: CompiledQuery): Promise<number> {
    const tx = await service.database.db.startTransaction().execute();
    const explain = CompiledQuery.raw(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, [...parameters]);
    const { rows } = await tx.executeQuery<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(explain);
    await tx.rollback().execute();
    const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
    return (plan['Shared Hit Blocks'] ?? Number.NaN) + (plan['Shared Read Blocks'] ?? Number.NaN);
  }

  async function assertCheap(expected: RegExp[]): Promise<void> {
    const made = statements.filter((statement) => !/^(begin|commit)/i.test(statement.sql));
    assert.deepEqual(
      made.map((statement) => statement.sql.match(/\w+/)?.[0].toLowerCase()),
      expected.map((pattern) => pattern.source),
    );
    for (const statement of made) {
      // A statement may read at most this number of database pages for each event:
      // - 20 if the statement updates rows. PostgreSQL then adds an entry to each index, and reads a few pages to find its place.
      // - 7 if the statement locks rows. PostgreSQL then reads each row again, and also the visibility map.
      // - 7 if the statement reads deliveries. To find a delivery, PostgreSQL reads the three levels of an index.
      // - 3 for every other statement.
      const pages = await pagesTouched(statement);
      const isMore = /FOR NO KEY UPDATE|FROM delivery/.test(statement.sql);
      const perRow = statement.sql.trim().startsWith('UPDATE') ? 20 : isMore ? 7 : 3;
      const most = LIMIT * perRow;
      assert.ok(pages <= most, `the statement read ${pages} pages: ${statement.sql}`);
    }
  }

  it('a call for events that a client has read before runs two SELECT statements and reads few database pages for any cursor', async () => {
    for (const cursor of ['', '15000', String(EVENTS / 2 - LIMIT)]) {
      statements = [];
      assert.equal((await read(cursor)).results.length, LIMIT);
      await assertCheap([/select/, /select/]);
    }
  });

  it('a call for events that no client has read runs seven statements and reads few database pages, even for 30,000 events', async () => {
    const page = await read(String(EVENTS / 2));
    assert.equal(page.next, String(EVENTS / 2 + LIMIT));
    await assertCheap([/select/, /select/, /insert/, /select/, /update/, /update/, /select/]);
  });

  it('if a feed is empty, reading events runs only two SELECT statements, and reading only the end cursor (as for `after=latest`) runs only one', async () => {
    const { partner, credential } = await service.credential(tenant.tenantId);
    assert.ok(partner);
    assert.deepEqual((await read('', credential.id)).results, []);
    await assertCheap([/select/, /select/]);
    statements = [];
    assert.equal((await read('latest', credential.id)).next, '0');
    await assertCheap([/select/]);
    const { rows } = await sql`SELECT 1 FROM event_feed WHERE credential_id = ${credential.id}::uuid`.execute(db);
    assert.deepEqual(rows, []);
  });
});
