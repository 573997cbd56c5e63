import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { dayAfter, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { fillWithoutIndexes, withoutTimeLimit } from '#test/support/plans.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { reportDays } from './reports.ts';

/** Numbers of orders and of stays of the large and the small tenant. The orders and stays are spread over a year. */
const ORDERS = { large: 60_000, small: 200 };
const STAYS = { large: 40_000, small: 200 };
const DAYS = 365;
/**
 * Maximum number of database pages that a statement may read for 31 days of the large tenant. The keys are the tables of the statements.
 * The limits are higher than the following numbers of table pages, because the pages of indexes count too:
 * - The 5,000 orders of these days take at most 180 pages of the table.
 * - 3,400 stays begin in these days. They are spread over the table, so each of them may need its own page.
 */
const MOST_PAGES = { restaurant_order: 500, reservation: 5_000 };

const isCluster = await isTestCluster();

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

describe('query plans of the report of days', {
  skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
}, () => {
  let service: TestService;
  let db: Database;
  let hotels: Record<'large' | 'small', TestHotel>;
  const sent: CompiledQuery[] = [];
  before(async () => {
    service = await startService();
    db = createDatabase({ url: service.database.url, poolSize: 4, log: ({ query }) => sent.push(query) });
    hotels = { large: await openHotel(service), small: await openHotel(service) };
    await withoutTimeLimit(service.database.url, async (filling) => {
      await fillWithoutIndexes(filling, ['restaurant_order', 'reservation'], async () => {
        for (const size of ['large', 'small'] as const) {
          await insertOrders(filling, hotels[size], ORDERS[size]);
          await insertStays(filling, hotels[size], STAYS[size]);
        }
      });
      await sql`VACUUM ANALYZE restaurant_order, reservation, credential`.execute(filling);
    });
  });
  after(async () => {
    await db.destroy();
    await service.close();
  });

  async function planOf({ sql: text, parameters }: CompiledQuery, options: string): Promise<Plan> {
    const explain = CompiledQuery.raw(
      `EXPLAIN (${options}, FORMAT JSON) ${text}`,
      options === 'GENERIC_PLAN' ? [] : [...parameters],
    );
    const { rows } = await service.database.db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain);
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    assert.ok(plan);
    return plan;
  }

  function assertByIndex(plan: Plan, table: string): void {
    const nodes = nodesOf(plan);
    const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === table);
    assert.deepEqual(scanned, [], JSON.stringify(plan));
  }

  for (const size of ['large', 'small'] as const) {
    it(`the report of a ${size} tenant reads orders and stays by an index, also if the planner does not know the parameter values`, async () => {
      const { tenantId, document } = hotels[size];
      const tenant = {
        id: tenantId,
        slug: document.slug,
        name: document.name,
        currency: 'EUR',
        timezone: 'Europe/Lisbon',
        features: ['restaurant', 'hotel'] as ('restaurant' | 'hotel')[],
      };
      const range = { from: dayAhead(-60), to: dayAhead(-29) };
      sent.length = 0;
      const days = await reportDays(db, tenant, range);
      assert.equal(days.length, 31);
      assert.ok(days.some(({ orders, rooms_sold }) => orders > 0 && rooms_sold > 0));
      const statements = sent.filter(({ sql: text }) => !text.includes('set_config'));
      assert.equal(statements.length, 3, statements.map(({ sql: text }) => text).join('\n'));
      for (const [table, pages] of Object.entries(MOST_PAGES)) {
        const statement = statements.find((each) => each.sql.includes(`FROM ${table}\n`));
        assert.ok(statement);
        assertByIndex(await planOf(statement, 'GENERIC_PLAN'), table);
        const plan = await planOf(statement, 'ANALYZE, BUFFERS');
        assertByIndex(plan, table);
        const read = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
        assert.ok(read <= pages, `${read} pages of ${table}: ${JSON.stringify(plan)}`);
      }
    });
  }
});

/** Inserts orders of the last year. One in seven orders is cancelled. */
async function insertOrders(db: Database, tenant: TestHotel, count: number): Promise<void> {
  const stepMs = Math.floor((DAYS * 86_400_000) / count);
  await sql`
    INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, order_type, lines, total, currency,
      created_at, status_changed_at)
    SELECT ${tenant.tenantId}::bigint, (lpad(to_hex(ms), 12, '0') || '7' || left(hash, 3) || 'a' || right(hash, 15))::uuid,
      ${tenant.credential.id}::uuid, 'E-' || n, CASE WHEN n % 7 = 0 THEN 'cancelled' ELSE 'completed' END, 'delivery',
      '[]', n % 50, 'EUR', to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0)
    FROM (
      SELECT n, md5(n::text) AS hash, ${Date.now()}::bigint - n * ${stepMs}::bigint AS ms FROM generate_series(1, ${count}::int) AS n
    ) AS made`.execute(db);
}

/** Inserts stays of the last year. One stay in a hundred has 40 nights. Each of the other stays has 1 to 7 nights. */
async function insertStays(db: Database, hotel: TestHotel, count: number): Promise<void> {
  await sql`
    INSERT INTO reservation (tenant_id, id, natural_id, external_source, external_id, channel_timestamp, channel_signatures, status,
      room_type_id, check_in, check_out, guests, guest_name, guest_search_name, total_amount, currency, created_at,
      changed_at, nightly_prices)
    SELECT ${hotel.tenantId}::bigint, gen_random_uuid(), 'N-' || n, 'ota', 'E-' || n, 1, '{}',
      CASE WHEN n % 9 = 0 THEN 'cancelled' ELSE 'completed' END, ${hotel.roomTypes['Double']}::uuid, check_in, check_in + nights, 1,
      'Guest', 'guest', 10 * nights, 'EUR', now(), now(), CASE WHEN n % 2 = 0 THEN array_fill('10.00'::text, ARRAY[nights]) END
    FROM (
      SELECT n, ${dayAfter(dayAhead(0), -DAYS)}::date + n * 37 % ${DAYS}::int AS check_in, CASE WHEN n % 100 = 0 THEN 40 ELSE 1 + n % 7 END AS nights
      FROM generate_series(1, ${count}::int) AS n
    ) AS made`.execute(db);
}
