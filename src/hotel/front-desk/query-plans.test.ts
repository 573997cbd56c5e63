import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { readKeysetPage } from '#platform/db/keyset-list.ts';
import { dayAfter, dayAhead, openHotel, openSmallHotel, type TestHotel } from '#test/support/hotel.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { listOversoldNights } from '../nights/store.ts';
import { changeRatePlan, changeRates } from '../rates/rate-changes.ts';
import { changeRoomType } from '../rooms/rooms.ts';
import { calendarTexts, findCalendar } from './calendar.ts';

const ROOM_TYPES = 20;
const PLANS = 4;
const NIGHTS = 400;
/**
 * Number of room types of another tenant, with one rate plan each. Most rows of each table belong to this tenant, so PostgreSQL should
 * prefer an index to a scan of the whole table.
 */
const OTHER_ROOM_TYPES = 1_000;
const OTHER_NIGHTS = 50;

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

describe('query plans of the calendar, of changes of rates and of oversold nights, after ANALYZE', {
  skip: (await isTestCluster()) && 'a cluster shows other plans',
}, () => {
  let service: TestService;
  let db: Database;
  let hotel: TestHotel;
  let statements: CompiledQuery[] = [];
  const actor = () => ({ tenantId: hotel.tenantId, type: 'operator', id: null }) as const;

  before(async () => {
    service = await startService();
    const other = await openHotel(service);
    hotel = await openLargeHotel();
    await fill(service.database.db, hotel, other);
    db = createDatabase({ url: service.database.url, poolSize: 2, log: ({ query }) => statements.push(query) });
  });
  after(async () => {
    await db.destroy();
    await service.close();
  });

  async function openLargeHotel(): Promise<TestHotel> {
    const rate_plans = Array.from({ length: PLANS }, (_, index) => ({ name: `Plan ${index}`, base_price: '50.00' }));
    return await openSmallHotel(
      service,
      Array.from({ length: ROOM_TYPES }, (_, index) => {
        return { name: `Type ${index}`, max_occupancy: 2, physical_capacity: 5, rate_plans };
      }),
    );
  }

  /**
   * Asserts that each statement that `work` sends reads the tables of the hotel by an index. Fails if `work` sends no statement, because
   * the test would then check no query plan.
   */
  async function assertByIndex(work: () => Promise<unknown>): Promise<void> {
    statements = [];
    await work();
    const sent = statements.filter(({ sql: text }) => /^\s*(select|with|merge|insert|update)/i.test(text));
    assert.ok(sent.length > 0);
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      for (const statement of sent) {
        const scans = await scannedTables(statement, mode);
        assert.deepEqual(scans, [], `${mode}: ${statement.sql}`);
      }
    }
  }

  /**
   * Returns the tables that PostgreSQL would read as a whole for the statement, without an index.
   * @param mode value of the setting `plan_cache_mode`
   */
  async function scannedTables({ sql: text, parameters }: CompiledQuery, mode: string): Promise<string[]> {
    return await service.database.db.transaction().execute(async (tx) => {
      await sql`SELECT set_config('plan_cache_mode', ${sql.lit(mode)}, true)`.execute(tx);
      const explain = CompiledQuery.raw(`EXPLAIN (FORMAT JSON) ${text}`, [...parameters]);
      const { rows } = await tx.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain);
      return nodesOf(rows[0]?.['QUERY PLAN'][0].Plan)
        .filter((node) => node['Node Type'] === 'Seq Scan')
        .map((node) => node['Relation Name'] ?? '');
    });
  }

  it('if a query filters by `price`, which has no index, the test helper scannedTables reports that PostgreSQL would read the whole table `rate`', async () => {
    const reads = sql`SELECT count(*) FROM rate WHERE price = ${'61.00'}`.compile(db);
    assert.deepEqual(await scannedTables(reads, 'force_custom_plan'), ['rate']);
    assert.deepEqual(await scannedTables(reads, 'force_generic_plan'), ['rate']);
  });

  it('the calendar of a large property reads each table by an index', async () => {
    const { body } = await service.call('GET', '/v1/staff/properties/', { headers: hotel.staff });
    const query = { property_id: body[0].id, from: dayAhead(0), to: dayAhead(NIGHTS) };
    await assertByIndex(async () => {
      const calendar = await findCalendar(db, hotel.tenantId, query);
      let json = '';
      for await (const text of calendarTexts(db, hotel.tenantId, calendar)) {
        json += text;
      }
      assert.equal(JSON.parse(json).room_types.length, ROOM_TYPES);
    });
  });

  it('a price change of 5,000 nights of many rate plans, and a price change of one night, read each table by an index', async () => {
    const plans = Object.values(hotel.plans);
    const changes = Array.from({ length: 5_000 }, (_, index) => ({
      rate_plan_id: plans[index % plans.length] ?? '',
      date: dayAfter(dayAhead(0), Math.floor(index / plans.length)),
      price: '77.00',
    }));
    for (const some of [changes, changes.slice(0, 1)]) {
      await assertByIndex(() => changeRates(db, actor(), { changes: some, dry_run: false }));
      await assertByIndex(() =>
        changeRates(db, actor(), { changes: some.map((each) => ({ ...each, price: '88.00' })), dry_run: false }),
      );
    }
  });

  it('a change of a rate plan and a change of a capacity read each table by an index', async () => {
    await assertByIndex(() => changeRatePlan(db, actor(), Object.values(hotel.plans)[0] ?? '', { min_nights: 2 }));
    await assertByIndex(() => changeRoomType(db, actor(), hotel.roomTypes['Type 1'] ?? '', { physical_capacity: 4 }));
  });

  it('the list of oversold nights reads each table by an index', async () => {
    const list = listOversoldNights(hotel.tenantId, dayAhead(10));
    await assertByIndex(async () => {
      const { rows, next } = await readKeysetPage(db, list, { after: null, limit: 100 });
      assert.equal(rows.length, 100);
      assert.equal((await readKeysetPage(db, list, { after: next, limit: 100 })).rows.length, 100);
    });
  });
});

function nodesOf(node: PlanNode | undefined): PlanNode[] {
  return node === undefined ? [] : [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/**
 * Fills the tables of the hotel and of the other tenant, and updates the statistics from which PostgreSQL chooses its query plans. Each
 * rate plan has a stored price on each night. On every third night, more rooms are held than the room type has.
 */
async function fill(db: Database, hotel: TestHotel, other: TestHotel): Promise<void> {
  const first = dayAhead(0);
  const { tenantId } = other;
  const property = sql`(SELECT id FROM property WHERE tenant_id = ${tenantId} LIMIT 1)`;
  await sql`
    INSERT INTO property SELECT ${tenantId}, gen_random_uuid(), n, 'P' || n, '', '', 'PT', 'Europe/Lisbon', '15:00', '11:00', true
    FROM generate_series(1, 500) AS n`.execute(db);
  await sql`
    INSERT INTO room_type SELECT ${tenantId}, gen_random_uuid(), ${property}, n, 'T' || n, '', 2, NULL, 5, '[]', '[]', true
    FROM generate_series(1, ${OTHER_ROOM_TYPES}) AS n`.execute(db);
  await sql`
    INSERT INTO rate_plan SELECT ${tenantId}, gen_random_uuid(), id, 1, 'P', 50, true, 1, true
    FROM room_type WHERE tenant_id = ${tenantId}`.execute(db);
  for (const [id, nights] of [
    [tenantId, OTHER_NIGHTS],
    [hotel.tenantId, NIGHTS],
  ] as const) {
    await sql`
      INSERT INTO rate SELECT tenant_id, id, ${first}::date + n, 60 + n % 9, n % 10 = 0
      FROM rate_plan, generate_series(0, ${nights - 1}) AS n WHERE tenant_id = ${id}`.execute(db);
    await sql`
      INSERT INTO night SELECT tenant_id, id, ${first}::date + n, CASE WHEN n % 3 = 0 THEN 6 ELSE 2 END
      FROM room_type, generate_series(0, ${nights - 1}) AS n WHERE tenant_id = ${id}`.execute(db);
  }
  await sql`ANALYZE property, room_type, rate_plan, rate, night`.execute(db);
}
