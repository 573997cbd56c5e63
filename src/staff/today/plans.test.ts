import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { dayAfter, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { fillWithoutIndexes, openPlanned, type PlannedDatabase, withoutTimeLimit } from '#test/support/plans.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import * as store from './store.ts';

const ORDERS = 60_000;
const STAYS = 40_000;
const DELIVERIES = 20_000;
const DAY_MS = 86_400_000;
const TABLES = ['restaurant_order', 'reservation', 'delivery', 'night'];
/** Largest number of database pages that one statement may read. The tables have several times as many. */
const MOST_PAGES = 4_500;
const LATE = { pending: 3, confirmed: 10, preparing: 20, ready: 10, out_for_delivery: 45 };

describe('query plans of the state of the house', {
  skip: (await isTestCluster()) && 'the plan of a cluster does not show the plans of its nodes',
}, () => {
  let service: TestService;
  let planned: PlannedDatabase;
  let hotel: TestHotel;
  before(async () => {
    service = await startService();
    planned = openPlanned(service.database.url, TABLES, MOST_PAGES);
    hotel = await openHotel(service);
    await openHotel(service);
    await withoutTimeLimit(service.database.url, async (db) => {
      await fillWithoutIndexes(db, ['restaurant_order', 'reservation', 'delivery'], async () => {
        await insertOrders(db, hotel);
        await insertStays(db, hotel);
        await insertDeliveries(db, hotel);
      });
      await sql`UPDATE credential SET webhook_url = 'https://partner.example/', webhook_secret = 'x' WHERE tenant_id = ${hotel.tenantId}`.execute(
        db,
      );
      await sql`VACUUM ANALYZE`.execute(db);
    });
  });
  after(async () => {
    await planned.db.destroy();
    await service.close();
  });

  const reads: Record<string, (db: Database, tenantId: number) => Promise<unknown>> = {
    'the unfinished orders': (db, id) => store.countOpenOrders(db, id, LATE),
    'the orders of today': (db, id) =>
      store.sumOrders(db, id, { firstId: firstIdAt(Date.now() - DAY_MS), currency: 'EUR' }),
    'the stays': (db, id) => store.countStays(db, id, dayAhead(0)),
    'the nights': (db, id) => store.readNights(db, id, { from: dayAhead(0), count: 14 }),
    'the oversold nights': (db, id) => store.findOversold(db, id, { from: dayAhead(0), most: 50 }),
    'the failing receivers': (db, id) => store.findFailingReceivers(db, id),
    'the partners': (db, id) => store.readPartners(db, id, firstIdAt(Date.now() - DAY_MS)),
    'the first steps': (db, id) => store.readFirstSteps(db, id),
  };
  for (const [what, read] of Object.entries(reads)) {
    it(`${what} are read by an index, also if the planner does not know the parameter values`, async () => {
      assert.ok((await planned.indexesOf(() => read(planned.db, hotel.tenantId))).size > 0);
    });
  }
});

const ID_AT = sql`(lpad(to_hex(ms), 12, '0') || '7' || left(hash, 3) || 'a' || right(hash, 15))::uuid`;

/** Inserts orders of the last year. The newest 200 orders are unfinished. */
async function insertOrders(db: Database, { tenantId, credential }: TestHotel): Promise<void> {
  await sql`
    INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, order_type, lines, total, currency,
      created_at, status_changed_at)
    SELECT ${tenantId}::bigint, ${ID_AT}, ${credential.id}::uuid, 'E-' || n, CASE WHEN n <= 200 THEN 'preparing' ELSE 'completed' END,
      'delivery', '[]', n % 50, 'EUR', to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0)
    FROM (
      SELECT n, md5(n::text) AS hash, ${Date.now()}::bigint - n * ${Math.floor((365 * DAY_MS) / ORDERS)}::bigint AS ms
      FROM generate_series(1, ${ORDERS}::int) AS n
    ) AS made`.execute(db);
}

/** Inserts stays of the last year. One stay in a hundred has 40 nights. Each of the other stays has 1 to 7 nights. */
async function insertStays(db: Database, { tenantId, roomTypes }: TestHotel): Promise<void> {
  await sql`
    INSERT INTO reservation (tenant_id, id, natural_id, external_source, external_id, channel_timestamp, channel_signatures, status,
      room_type_id, check_in, check_out, guests, guest_name, guest_search_name, total_amount, currency, created_at, changed_at)
    SELECT ${tenantId}::bigint, gen_random_uuid(), 'N-' || n, 'ota', 'E-' || n, 1, '{}', 'completed', ${roomTypes['Double']}::uuid,
      check_in, check_in + nights, 1, 'Guest', 'guest', 10, 'EUR', now(), now()
    FROM (
      SELECT n, ${dayAfter(dayAhead(0), -360)}::date + n * 37 % 365 AS check_in, CASE WHEN n % 100 = 0 THEN 40 ELSE 1 + n % 7 END AS nights
      FROM generate_series(1, ${STAYS}::int) AS n
    ) AS made`.execute(db);
}

/** Inserts deliveries of the last days. One in a hundred has failed. */
async function insertDeliveries(db: Database, { tenantId, credential }: TestHotel): Promise<void> {
  await sql`
    INSERT INTO delivery (tenant_id, id, credential_id, status, attempt_count, attempts)
    SELECT ${tenantId}::bigint, ${ID_AT}, ${credential.id}::uuid, CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'delivered' END, 1,
      jsonb_build_array(jsonb_build_object('at', to_timestamp(ms / 1000.0), 'http_status', 200, 'duration_ms', 9, 'error', NULL))
    FROM (
      SELECT n, md5(n::text) AS hash, ${Date.now()}::bigint - n * 20000::bigint AS ms FROM generate_series(1, ${DELIVERIES}::int) AS n
    ) AS made`.execute(db);
}
