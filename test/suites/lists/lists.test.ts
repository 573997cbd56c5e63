import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { faultsOf } from '#test/support/answers.ts';
import { eventOf, insertEvents } from '#test/support/feed.ts';
import { bookForHouse, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { entriesOf } from '#test/support/lists.ts';
import { insertOrders } from '#test/support/orders.ts';
import type { TestService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { MAX_EXAMINED } from '#platform/db/keyset-list.ts';
import { newId } from '#platform/lib/ids.ts';

/** Number of entries that each list has before the first test. It is a multiple of 1, 2 and 3. */
const COUNT = 6;

interface ListCase {
  path: string;
  /** Other orders of the list, as query parameters. */
  orders?: string[];
  /** Adds entries that come first in the list. */
  add: (service: TestService, hotel: TestHotel, count: number) => Promise<unknown>;
}

const service = await useService();

async function addEvents({ database }: TestService, hotel: TestHotel, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => eventOf(hotel, { delivery: { status: 'delivered' } }));
  await insertEvents(database.db, events);
}

async function addStays(of: TestService, hotel: TestHotel, count: number): Promise<void> {
  for (let added = 0; added < count; added += 1) {
    const stay = { room_type_id: hotel.roomTypes['Bunk'], check_in: dayAhead(31 - (added % 5)), overbook: true };
    assert.equal((await bookForHouse(of, hotel, stay)).status, 201);
  }
}

async function addAuditEntries({ database }: TestService, { tenantId }: TestHotel, count: number): Promise<void> {
  await sql`
    INSERT INTO audit_entry (tenant_id, id, at, actor_type, action, subject, details)
    SELECT ${tenantId}::bigint, id, now(), 'operator', 'made', 'thing', '{}'
    FROM unnest(${Array.from({ length: count }, () => newId())}::uuid[]) AS id`.execute(database.db);
}

/** Oversells nights before the nights that are oversold already. */
async function oversell({ database }: TestService, { tenantId, roomTypes }: TestHotel, count: number): Promise<void> {
  const [first = ''] = Object.values(roomTypes).toSorted();
  await sql`
    INSERT INTO night (tenant_id, room_type_id, date, held)
    SELECT ${tenantId}::bigint, ${first}::uuid, coalesce(min(date), current_date + 400) - n, 1000
    FROM generate_series(1, ${count}::int) AS n
    LEFT JOIN night ON night.tenant_id = ${tenantId} AND night.held = 1000 GROUP BY n`.execute(database.db);
}

const LISTS: Record<string, ListCase> = {
  orders: { path: '/v1/staff/orders/', orders: ['order=oldest'], add: insertNewOrders },
  reservations: { path: '/v1/staff/reservations/', orders: ['order=check_in'], add: addStays },
  deliveries: { path: '/v1/staff/webhook-deliveries/', add: addEvents },
  events: { path: '/v1/staff/events/', add: addEvents },
  audit: { path: '/v1/staff/audit/', add: addAuditEntries },
  'oversold nights': { path: '/v1/staff/nights/oversold/', add: oversell },
};

async function insertNewOrders(of: TestService, hotel: TestHotel, count: number): Promise<void> {
  await insertOrders(of, { ...hotel, ...(await of.credential(hotel.tenantId)) }, count);
}

for (const [name, { path, orders = [], add }] of Object.entries(LISTS)) {
  describe(`the list of ${name}`, () => {
    let hotel: TestHotel;
    before(async () => {
      hotel = await openHotel(service);
      await add(service, hotel, COUNT);
    });

    const get = (query: string) => service.call('GET', `${path}?${query}`, { headers: hotel.owner });

    it('200: pages of 1, 2, 3 or 100 entries have each entry once, in the same order', async () => {
      for (const order of ['', ...orders]) {
        const whole = await entriesOf(service, `${path}?${order}`, hotel.owner);
        assert.ok(whole.length >= COUNT);
        for (const limit of [1, 2, 3]) {
          assert.deepEqual(await entriesOf(service, `${path}?${order}`, hotel.owner, limit), whole, order);
        }
      }
    });

    it('200: entries that arrive while the list is read neither repeat nor hide the other entries', async () => {
      const whole = await entriesOf(service, path, hotel.owner);
      const read = [];
      for (let after: string | null = ''; after !== null; ) {
        const { body }: Answer = await get(`limit=2${after}`);
        read.push(...body.results);
        after = body.next === null ? null : `&after=${body.next}`;
        await add(service, hotel, 1);
      }
      assert.deepEqual(read, whole);
    });

    it('200: limit is 50 if it is missing, and 100 is allowed', async () => {
      await add(service, hotel, 60);
      assert.equal((await get('')).body.results.length, 50);
      assert.ok((await get('limit=100')).body.results.length > 60);
    });

    it('400: a limit or a cursor that the list did not give is refused', async () => {
      const own = (await get('limit=1')).body.next;
      const foreign = Object.values(LISTS).filter((list) => list.path !== path);
      const others = await Promise.all(
        foreign.map(async (list) => (await service.call('GET', `${list.path}?limit=1`, { headers: hotel.owner })).body),
      );
      const cursors = [
        '',
        'x',
        newId(),
        `${own}x`,
        own.slice(1),
        `${own}=`,
        ...others.flatMap(({ next }) => next ?? []),
      ];
      const ofOrders = await Promise.all(orders.map(async (order) => (await get(`${order}&limit=1`)).body.next));
      for (const cursor of [...cursors, ...ofOrders]) {
        const [fault = ''] = faultsOf(await get(`after=${encodeURIComponent(cursor)}`));
        assert.match(fault, /^after: must be the `next` of a response of this list/, cursor);
      }
      for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
        assert.match(faultsOf(await get(`limit=${limit}`))[0] ?? '', /^limit: /, limit);
      }
      for (const query of ['page=1', 'page_size=50']) {
        assert.match(faultsOf(await get(query))[0] ?? '', /^page/, query);
      }
    });

    it('200: a tenant without entries gets an empty list', async () => {
      const empty = await openHotel(service);
      await sql`DELETE FROM audit_entry WHERE tenant_id = ${empty.tenantId}`.execute(service.database.db);
      const { text } = await service.call('GET', path, { headers: empty.owner });
      assert.equal(text, '{"results":[],"next":null}');
    });
  });
}

describe('a page that examines many entries', () => {
  it('200: a page ends after 10,000 entries, and the pages together have all entries that pass the filter', async () => {
    const hotel = await openHotel(service);
    const { db } = service.database;
    // Frequent entries of two kinds, so that no index finds the entries of both. The oldest entry is the only one of both kinds.
    const ids = Array.from({ length: MAX_EXAMINED * 2 + 500 }, () => newId());
    await sql`
      INSERT INTO audit_entry (tenant_id, id, at, actor_type, actor_id, action, subject, details)
      SELECT ${hotel.tenantId}::bigint, id, now(), 'user', CASE WHEN n = 1 OR n % 2 = 0 THEN ${ids[0]}::uuid ELSE ${ids[1]}::uuid END,
        CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, 'thing', '{}'
      FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS made (id, n)`.execute(db);
    await sql`UPDATE audit_entry SET subject = 'thing' WHERE tenant_id = ${hotel.tenantId}`.execute(db);
    const pages = [];
    const query = `/v1/staff/audit/?subject=thing&action=odd&actor_id=${ids[0]}&limit=5`;
    for (let after: string | null = ''; after !== null; ) {
      const { body }: Answer = await service.call('GET', query + after, { headers: hotel.owner });
      pages.push(body.results.map(({ id }: { id: string }) => id));
      after = body.next === null ? null : `&after=${body.next}`;
    }
    assert.deepEqual(pages, [[], [], [ids[0]]]);
  });
});
