import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { fillWithoutIndexes, openPlanned, type PlannedDatabase } from '#test/support/plans.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { readKeysetPage } from '#platform/db/keyset-list.ts';
import { listForStaff } from './list-store.ts';
import { showNight } from './night.ts';
import type { ReservationFilter } from './staff-query.ts';

/**
 * Numbers of stays of three tenants. Most stays of the first tenant come from an OTA, and most stays of the other tenants from a partner.
 */
const COUNTS = [20_000, 4_500, 500];
/** Number of stays that one INSERT adds. With more stays, the statement could exceed its time limit on a busy machine. */
const A_STATEMENT = 4_000;
/** Largest number of database pages that a statement may read: 10,000 stays, or 5,000 stays found by an index in another order. */
const MOST_PAGES = 12_000;

describe('PostgreSQL query plans for the filters of stays', {
  skip: (await isTestCluster()) && 'the plan of a cluster does not show the plan of its nodes as rows',
}, () => {
  let service: TestService;
  let planned: PlannedDatabase;
  let hotels: TestHotel[];
  let firstProperties: Map<number, string>;
  before(async () => {
    service = await startService();
    planned = openPlanned(service.database.url, ['reservation'], MOST_PAGES);
    hotels = [await openHotel(service), await openHotel(service), await openHotel(service)];
    const properties = service.database.db.selectFrom('property').select(['tenant_id', 'id']).where('position', '=', 0);
    firstProperties = new Map((await properties.execute()).map(({ tenant_id, id }) => [tenant_id, id]));
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
    await planned.db.destroy();
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
      INSERT INTO reservation (tenant_id, id, natural_id, credential_id, external_reservation_id, external_source, external_id, status,
        room_type_id, check_in, check_out, guests, guest_name, guest_phone, guest_email, total_amount, currency,
        created_at, changed_at, guest_search_name, guest_digits, guest_search_email)
      SELECT found.*, lower(translate(guest_name, 'ÁáàŁłŻż', 'AaaLlZz')),
      regexp_replace(translate(guest_phone, '٣٥١', '351'), '[^0-9]', '', 'g'), lower(guest_email)
      FROM (
      SELECT ${tenantId}::bigint, lpad(to_hex(n), 32, '0')::uuid, 'N' || n,
        CASE source WHEN 'partner' THEN ${credential.id}::uuid END, CASE source WHEN 'partner' THEN 'P' || n END,
        CASE source WHEN 'ota' THEN 'an-ota' END, CASE source WHEN 'ota' THEN 'O' || n END,
        CASE WHEN n % 1000 = 7 THEN 'pending' ELSE 'completed' END,
        (CASE WHEN n % 1000 = 3 THEN ${roomTypes['Suite']} WHEN n % 2 = 0 THEN ${roomTypes['Bunk']} ELSE ${roomTypes['Double']} END)::uuid,
        day, day + (CASE WHEN n % 500 = 11 THEN 60 ELSE 1 + n % 6 END), 1,
        CASE WHEN n % 1000 = 5 THEN 'Łucja Żak' ELSE 'Guest ' || n END, CASE WHEN n % 1000 = 13 THEN '+٣٥١ ' ELSE '+351 ' END || (900000000 + n),
        CASE WHEN n % 1000 = 14 THEN 'G' ELSE 'g' END || n % 20000 || '@example.com',
        1, 'EUR', at, CASE WHEN n % 1000 = 9 THEN now() ELSE at END
      FROM (
        SELECT n, CASE n % 1000 WHEN 0 THEN 'house' WHEN 1 THEN ${usual === 'ota' ? 'partner' : 'ota'} ELSE ${usual} END AS source,
          current_date - (1095 - n::bigint * 1095 / ${count})::int AS day,
          now() - (1100 - n::bigint * 1095 / ${count}) * interval '1 day' AS at
        FROM generate_series(${first}::int, ${last}::int) AS n
      ) AS stay
      ) AS found (tenant_id, id, natural_id, credential_id, external_reservation_id, external_source, external_id, status,
        room_type_id, check_in, check_out, guests, guest_name, guest_phone, guest_email, total_amount, currency,
        created_at, changed_at)
    `.execute(service.database.db);
  }

  const filterOf = (name: string, filter: (hotel: TestHotel) => ReservationFilter) => ({
    name,
    filter,
  });
  const FILTERS = [
    filterOf('status, many', () => ({ status: 'completed' })),
    filterOf('status, few', () => ({ status: 'pending' })),
    filterOf('source partner', () => ({ source: 'partner' })),
    filterOf('source ota', () => ({ source: 'ota' })),
    filterOf('source house', () => ({ source: 'house' })),
    filterOf('credential', ({ credential }) => ({ credential_id: credential.id })),
    filterOf('unknown credential', () => ({ credential_id: crypto.randomUUID() })),
    filterOf('room type, many', ({ roomTypes }) => ({ room_type_id: roomTypes['Bunk'] ?? '' })),
    filterOf('room type, few', ({ roomTypes }) => ({ room_type_id: roomTypes['Suite'] ?? '' })),
    filterOf('property', ({ tenantId }) => ({ property_id: firstProperties.get(tenantId) ?? '' })),
    filterOf('unknown property', () => ({ property_id: crypto.randomUUID() })),
    filterOf('arrivals', () => ({ arriving_on: dayAhead(-500) })),
    filterOf('departures', () => ({ departing_on: dayAhead(-500) })),
    filterOf('guests in the hotel long ago', () => ({ staying_on: dayAhead(-1000) })),
    filterOf('guests in the hotel today', () => ({ staying_on: dayAhead(0) })),
    filterOf('changes, all', () => ({ changed_since: new Date(0) })),
    filterOf('changes, few', () => ({ changed_since: new Date(Date.now() - 600_000) })),
    filterOf('natural id', () => ({ natural_id: 'N77' })),
    filterOf('external id of a partner or an OTA', () => ({ external_id: 'O77' })),
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
      room_type_id: roomTypes['Bunk'] ?? '',
      staying_on: dayAhead(-400),
      name: 'guest',
    })),
  ] as const;

  for (const { name, filter } of FILTERS) {
    for (const order of ['newest', 'check_in'] as const) {
      it(`the list with the filter "${name}" and the sort order "${order}" reads stays only by indexes, also if the planner does not know the filter values`, async () => {
        for (const hotel of hotels) {
          await planned.indexesOf(async () => {
            const list = listForStaff(hotel.tenantId, { ...filter(hotel), ...(order === 'newest' ? {} : { order }) });
            const { next } = await readKeysetPage(planned.db, list, { after: null, limit: 50 });
            await (next === null ? undefined : readKeysetPage(planned.db, list, { after: next, limit: 50 }));
          });
        }
      });
    }
  }

  it('the queries for the stays and the history of a night read stays only by indexes', async () => {
    for (const hotel of hotels) {
      await planned.indexesOf(async () => {
        const shown = await showNight(planned.db, hotel.tenantId, hotel.roomTypes['Bunk'] ?? '', dayAhead(-400));
        assert.ok(shown.stays.length > 0 && shown.history.length >= shown.stays.length);
      });
    }
  });
});
