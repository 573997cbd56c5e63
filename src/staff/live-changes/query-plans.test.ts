import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { readCallers } from '#access/sessions/store.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import { book, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { withoutTimeLimit } from '#test/support/plans.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { openSession, personId } from '#test/support/sessions.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { causeEvent } from '#test/support/webhooks.ts';
import { look } from './store.ts';

/** Number of copies that the test makes of the tenant's rows in each table of `COPIES` (orders, events, audit entries and stays). */
const MANY = 20_000;
const isCluster = await isTestCluster();

describe('query plans of the statements of live changes', {
  skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
}, () => {
  let service: TestService;
  let db: Database;
  let hotel: TestHotel;
  const sent: CompiledQuery[] = [];
  before(async () => {
    service = await startService();
    db = createDatabase({ url: service.database.url, poolSize: 2, log: ({ query }) => sent.push(query) });
    hotel = await openHotel(service);
    await causeEvent(service, hotel);
    await book(service, hotel);
    await openSession(service, hotel.tenantId, 'staff');
    await withoutTimeLimit(service.database.url, fill);
  });
  after(async () => {
    await db.destroy();
    await service.close();
  });

  /**
   * Tables whose rows the test copies. `columns` lists all columns except `tenant_id` and `id`. `values` has an SQL expression for each of
   * these columns, which gives its value in a copy. In `values`, `n` is the number of the copy.
   */
  const COPIES: [table: string, columns: string, values: string][] = [
    [
      'restaurant_order',
      'credential_id, external_order_id, status, status_changed_at, order_type, lines, total, currency, created_at',
      "credential_id, 'copy ' || n, status, status_changed_at, order_type, lines, total, currency, created_at - n * interval '1 minute'",
    ],
    ['event', 'credential_id, type, body, subject, created_at', 'credential_id, type, body, subject, created_at'],
    [
      'audit_entry',
      'at, actor_type, actor_id, action, subject, details',
      'at, actor_type, actor_id, action, subject, details',
    ],
    [
      'reservation',
      'natural_id, credential_id, external_reservation_id, status, room_type_id, check_in, check_out, guests, guest_name, guest_search_name, total_amount, currency, created_at, changed_at',
      "'copy ' || n, credential_id, 'copy ' || n, status, room_type_id, check_in, check_out, guests, guest_name, guest_search_name, total_amount, currency, created_at, changed_at - n * interval '1 minute'",
    ],
  ];

  async function fill(filling: Database): Promise<void> {
    for (const [table, columns, values] of COPIES) {
      await sql`
        INSERT INTO ${sql.table(table)} (tenant_id, id, ${sql.raw(columns)})
        SELECT * FROM (SELECT tenant_id, gen_random_uuid() AS new_id, ${sql.raw(values)}
        FROM ${sql.table(table)}, generate_series(1, ${MANY}::int) AS n WHERE tenant_id = ${hotel.tenantId} LIMIT ${MANY}) AS copies
      `.execute(filling);
    }
    await sql`
      INSERT INTO app_user (tenant_id, id, email, role, password_hash)
      SELECT tenant_id, gen_random_uuid(), n || email, role, password_hash FROM app_user, generate_series(1, 5000) AS n
      WHERE tenant_id = ${hotel.tenantId} AND role = 'staff'`.execute(filling);
    await sql`VACUUM ANALYZE`.execute(filling);
  }

  async function scannedBy({ sql: text }: CompiledQuery): Promise<string[]> {
    const explain = CompiledQuery.raw(`EXPLAIN (GENERIC_PLAN) ${text}`);
    const { rows } = await service.database.db.executeQuery<{ 'QUERY PLAN': string }>(explain);
    const lines = rows.map((row) => row['QUERY PLAN']);
    return lines.flatMap((line) => /Seq Scan on (\w+)/.exec(line)?.[1] ?? []);
  }

  it('the statement that reads the newest rows uses an index of each large table, for one tenant and for many tenants', async () => {
    sent.length = 0;
    const [found] = await look(db, [hotel.tenantId], Date.now());
    const sources = new Set(Object.keys(found ?? {}).map((key) => key.split(' ')[0] ?? ''));
    assert.ok(sources.isSupersetOf(new Set(['order', 'order_event', 'stay', 'credential'])), [...sources].join(' '));
    const tenantIds = Array.from({ length: 50 }, (_, index) => hotel.tenantId + index);
    await look(db, tenantIds, Date.now());
    assert.equal(sent.length, 2);
    for (const statement of sent) {
      assert.deepEqual(await scannedBy(statement), [], statement.sql);
    }
  });

  it('the access check for open streams uses an index of each large table, for one and for many sessions and tokens', async () => {
    const id = await personId(service, hotel.tenantId, 'owner');
    const expiresAt = new Date().toISOString();
    const caller = { tenantId: hotel.tenantId, personId: id, expiresAt };
    const session = () => ({ ...caller, sessionId: newId(), generation: null });
    const token = () => ({ ...caller, sessionId: null, generation: 0 });
    sent.length = 0;
    await readCallers(db, [session()]);
    await readCallers(db, [token()]);
    await readCallers(db, [...Array.from({ length: 200 }, session), ...Array.from({ length: 200 }, token)]);
    assert.equal(sent.length, 3);
    for (const statement of sent) {
      const scanned = await scannedBy(statement);
      assert.deepEqual(
        scanned.filter((table) => table === 'app_user'),
        [],
        statement.sql,
      );
    }
  });
});
