import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { fillWithoutIndexes } from '#test/support/plans.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { listForStaff, type ReservationFilter } from './list-store.ts';
import { showNight } from './night.ts';

/**
 * Numbers of stays of three tenants. Most stays of the first tenant come from an OTA, and most stays of the other tenants from a partner.
 */
const COUNTS = [20_000, 4_500, 500];
const TOTAL = 25_000;
/** Number of stays that one INSERT adds. With more stays, the statement could exceed its time limit on a busy machine. */
const A_STATEMENT = 4_000;
/**
 * Largest number of rows that a query may read in addition to the rows that pass the filter. A query reads some such rows even if it uses
 * an index. For example, the filter by the day of departure reads all stays that began in the 31 days before this day. The largest tenant
 * has about 600 such stays.
 */
const SPARE_ROWS = 5_000;
/**
 * If fewer than 10,000 rows pass a filter, the query has to use an index. If 10,000 rows or more pass, the query may read the whole table
 * of 25,000 rows. That is cheap enough, because at least 40% of these rows pass.
 */
const MOST_ROWS = 10_000 - 1;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

describe('PostgreSQL query plans for the filters of stays', {
  skip: (await isTestCluster()) && 'the plan of a cluster does not show the plan of its nodes as rows',
}, () => {
  let service: TestService;
  let db: Database;
  let hotels: TestHotel[];
  const sent: CompiledQuery[] = [];
  before(async () => {
    service = await startService();
    db = createDatabase({ url: service.database.url, poolSize: 4, log: ({ query }) => sent.push(query) });
    hotels = [await openHotel(service), await openHotel(service), await openHotel(service)];
    await fillWithoutIndexes(service.database.db, ['reservation'], async () => {
      for (const [index, hotel] of hotels.entries()) {
        const count = COUNTS[index] ?? 0;
        for (let first = 1; first <= count; first += A_STATEMENT) {
          await insertStays(hotel, { first, count }, index === 0 ? 'ota' : 'partner');
        }
      }
    });
    await sql`VACUUM ANALYZE reservation`.execute(service.database.db);
  });
  after(async () => {
    await db.destroy();
    await service.close();
  });

  /**
   * Inserts stays. `usual` is the source of most stays, `partner` or `ota`. Of each 1,000 stays:
   * - One comes from an OTA if `usual` is `partner`, or from a partner if `usual` is `ota`.
   * - One comes from the hotel itself.
   * - One is in the room type Suite.
   */
  async function insertStays(
    { tenantId, roomTypes, credential }: TestHotel,
    { first, count }: { first: number; count: number },
    usual: string,
  ) {
    const last = Math.min(count, first + A_STATEMENT - 1);
    await sql`
      INSERT INTO reservation (tenant_id, id, natural_id, credential_id, external_reservation_id, external_source, external_id,
        status, room_type_id, check_in, check_out, guests, guest_name, guest_phone, guest_email, total_amount, currency,
        created_at, changed_at, has_history)
      SELECT ${tenantId}::bigint, lpad(to_hex(n), 32, '0')::uuid, 'N' || n,
        CASE source WHEN 'partner' THEN ${credential.id}::uuid END, CASE source WHEN 'partner' THEN 'P' || n END,
        CASE source WHEN 'ota' THEN 'an-ota' END, CASE source WHEN 'ota' THEN 'O' || n END,
        CASE WHEN n % 1000 = 7 THEN 'pending' ELSE 'completed' END,
        (CASE WHEN n % 1000 = 3 THEN ${roomTypes['Suite']} WHEN n % 2 = 0 THEN ${roomTypes['Bunk']} ELSE ${roomTypes['Double']} END)::uuid,
        day, day + (CASE WHEN n % 500 = 11 THEN 60 ELSE 1 + n % 6 END), 1,
        CASE WHEN n % 1000 = 5 THEN 'Łucja Żak' ELSE 'Guest ' || n END, CASE WHEN n % 1000 = 13 THEN '+٣٥١ ' ELSE '+351 ' END || (900000000 + n),
        CASE WHEN n % 1000 = 14 THEN 'G' ELSE 'g' END || n % 20000 || '@example.com',
        1, 'EUR', at, CASE WHEN n % 1000 = 9 THEN now() ELSE at END, true
      FROM (
        SELECT n, CASE n % 1000 WHEN 0 THEN 'house' WHEN 1 THEN ${usual === 'ota' ? 'partner' : 'ota'} ELSE ${usual} END AS source,
          current_date - (1095 - n::bigint * 1095 / ${count})::int AS day,
          now() - (1100 - n::bigint * 1095 / ${count}) * interval '1 day' AS at
        FROM generate_series(${first}::int, ${last}::int) AS n
      ) AS stay
    `.execute(service.database.db);
  }

  /**
   * Runs the queries of the tested function again, with EXPLAIN ANALYZE. The pool has logged these queries in the array `sent`. Returns one
   * list for each query, with its scans of the table of stays.
   */
  async function explainSent(): Promise<Plan[][]> {
    const queries = sent.splice(0).filter((query) => query.sql.includes('reservation'));
    assert.ok(queries.length > 0);
    return await Promise.all(
      queries.map(async ({ sql: text, parameters }) => {
        const explained = CompiledQuery.raw(`EXPLAIN (ANALYZE, TIMING false, BUFFERS false, FORMAT JSON) ${text}`, [
          ...parameters,
        ]);
        const { rows } = await service.database.db.executeQuery<{ 'QUERY PLAN': { Plan: Plan }[] }>(explained);
        return (rows[0]?.['QUERY PLAN'] ?? []).flatMap((each) => scansOf(each.Plan));
      }),
    );
  }

  function scansOf(plan: Plan): Plan[] {
    const isScan = plan['Node Type'].endsWith(' Scan') && plan['Relation Name'] === 'reservation';
    return [...(isScan ? [plan] : []), ...(plan.Plans ?? []).flatMap(scansOf)];
  }

  function rowsRead(plan: Plan): number {
    const { 'Actual Rows': rows = 0, 'Actual Loops': loops = 1 } = plan;
    return (rows + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)) * loops;
  }

  /**
   * Asserts that each query in `sent` used an index, and read only few rows that do not pass its filter.
   * @param passing number of rows that pass the filter. If it exceeds `MOST_ROWS`, a query may scan the whole table
   */
  async function assertCheap(passing: number): Promise<void> {
    for (const scans of await explainSent()) {
      const rows = scans.reduce((sum, scan) => sum + rowsRead(scan), 0);
      // A query may first read the ids of the rows that pass, and then read these rows by their ids. So each row may be read twice.
      const most = 2 * (passing > MOST_ROWS ? TOTAL : passing) + SPARE_ROWS;
      assert.ok(rows <= most, `${rows} rows read, ${passing} pass`);
      const isSequential = scans.some((scan) => scan['Node Type'] === 'Seq Scan');
      assert.ok(!isSequential || passing > MOST_ROWS, `a sequential scan, although only ${passing} rows pass`);
    }
  }

  const filterOf = (name: string, filter: (hotel: TestHotel) => Omit<ReservationFilter, 'tenantId'>) => ({
    name,
    filter,
  });
  const FILTERS = [
    filterOf('status, many', () => ({ status: 'completed' })),
    filterOf('status, few', () => ({ status: 'pending' })),
    filterOf('source partner', () => ({ source: 'partner' })),
    filterOf('source ota', () => ({ source: 'ota' })),
    filterOf('source house', () => ({ source: 'house' })),
    filterOf('credential', ({ credential }) => ({ credentialId: credential.id })),
    filterOf('unknown credential', () => ({ credentialId: crypto.randomUUID() })),
    filterOf('room type, many', ({ roomTypes }) => ({ roomTypeId: roomTypes['Bunk'] })),
    filterOf('room type, few', ({ roomTypes }) => ({ roomTypeId: roomTypes['Suite'] })),
    filterOf('property, many', ({ roomTypes }) => ({
      roomTypeIds: [roomTypes['Bunk'] ?? '', roomTypes['Double'] ?? ''],
    })),
    filterOf('property, few', ({ roomTypes }) => ({
      roomTypeIds: [roomTypes['Suite'] ?? '', roomTypes['Floor'] ?? ''],
    })),
    filterOf('arrivals', () => ({ arrivingOn: dayAhead(-500) })),
    filterOf('departures', () => ({ departingOn: dayAhead(-500) })),
    filterOf('guests in the hotel long ago', () => ({ stayingOn: dayAhead(-1000) })),
    filterOf('guests in the hotel today', () => ({ stayingOn: dayAhead(0) })),
    filterOf('changes, all', () => ({ changedSince: new Date(0) })),
    filterOf('changes, few', () => ({ changedSince: new Date(Date.now() - 600_000) })),
    filterOf('natural id', () => ({ naturalId: 'N77' })),
    filterOf('external id of a partner or an OTA', () => ({ externalId: 'O77' })),
    filterOf('e-mail address', () => ({ email: 'g77@example.com' })),
    filterOf('e-mail address with capitals', () => ({ email: 'g1014@example.com' })),
    filterOf('telephone number', () => ({ phone: '351900000077' })),
    filterOf('telephone number in other digits', () => ({ phone: '351900001013' })),
    filterOf('name, many', () => ({ name: 'guest' })),
    filterOf('name, few', () => ({ name: 'łucja z' })),
    filterOf('ids', () => ({ ids: ['00000000-0000-0000-0000-00000000004d'] })),
    filterOf('several filters', ({ roomTypes }) => ({
      status: 'completed',
      source: 'ota',
      roomTypeId: roomTypes['Bunk'],
      stayingOn: dayAhead(-400),
      name: 'guest',
    })),
  ] as const;

  for (const { name, filter } of FILTERS) {
    for (const order of ['newest', 'check_in'] as const) {
      it(`if fewer than 10,000 of 25,000 stays pass the filter "${name}", a query with the sort order "${order}" uses an index and does not read the whole table`, async () => {
        for (const hotel of hotels) {
          sent.length = 0;
          const list = await listForStaff(db, { tenantId: hotel.tenantId, ...filter(hotel) }, order);
          const { count } = await list.readPage(0, 50);
          const { results } = await list.readPage(Math.max(0, Math.floor(count / 2) - 1), 50);
          await list.readBatch(results.at(-1)?.id ?? null, 50);
          await assertCheap(count);
        }
      });
    }
  }

  it('the queries for the stays and the history of a night use an index, and read only a small part of all stays', async () => {
    for (const hotel of hotels) {
      sent.length = 0;
      const shown = await showNight(db, hotel.tenantId, hotel.roomTypes['Bunk'] ?? '', dayAhead(-400));
      assert.ok(shown.stays.length > 0 && shown.history.length >= shown.stays.length);
      await assertCheap(0);
    }
  });
});
