import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
import {
  STAFF_RESERVATIONS,
  book,
  bookForHouse,
  dayAhead,
  openChannel,
  openHotel,
  openHotelOf,
  setStayStatus,
} from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

const { service, hotel } = await useHotel();
/** Names of the stays by their ids, so that a failed test shows names. */
const nameOf = new Map<string, string>();
const idOf = (name: string) => [...nameOf].find(([, each]) => each === name)?.[0] ?? '';
const naturalIdOf = async (name: string) => (await get(`?ids=${idOf(name)}`)).body.results[0].natural_id as string;
let propertyIds: string[];

before(async () => {
  const { body } = await service.call('GET', '/v1/staff/properties/', { headers: hotel.staff });
  propertyIds = body.map(({ id }: { id: string }) => id);
  const room_type_id = hotel.roomTypes['Bunk'];
  const keep = async (name: string, call: Promise<{ status: number; text: string; body: Record<string, string> }>) => {
    const answer = await call;
    assert.equal(answer.status, 201, answer.text);
    nameOf.set(answer.body['reservation_id'] ?? answer.body['id'] ?? '', name);
  };
  const ana = { name: 'Ána Gonçalves', phone: '+351 (912) 345-678', email: 'ana@example.com' };
  await keep('partner', book(service, hotel, { room_type_id, external_reservation_id: 'X-1', guest: ana }));
  const send = await openChannel(service, hotel, 'an-ota');
  const long = { check_in: dayAhead(10), check_out: dayAhead(100) };
  await keep('ota', send({ room_type_id, external_id: 'X-1', guest: { full_name: 'ana maria' }, ...long }));
  const other = {
    room_type_id: hotel.roomTypes['Lagoon Lodge/Double'],
    check_in: dayAhead(31),
    check_out: dayAhead(33),
  };
  await keep('house', bookForHouse(service, hotel, { ...other, guest: { name: 'ZÜRN', phone: '351912345678' } }));
  const stranger = await openHotel(service);
  assert.equal((await book(service, stranger, { external_reservation_id: 'X-1', guest: ana })).status, 201);
});

const get = (query: string, headers = hotel.staff) => service.call('GET', `${STAFF_RESERVATIONS}${query}`, { headers });
const named = async (query: string) => {
  const stays = await entriesOf(service, STAFF_RESERVATIONS + query, hotel.staff);
  assert.deepEqual(await entriesOf(service, STAFF_RESERVATIONS + query, hotel.staff, 1), stays, query);
  return stays.map((row: { reservation_id: string }) => nameOf.get(row.reservation_id));
};

describe('filters of GET /v1/staff/reservations/', () => {
  it("200: for a tenant with one property, its property_id lists all stays, and another tenant's property_id lists no stays", async () => {
    const small = await openHotelOf(service, 2);
    const { body } = await book(service, small, { room_type_id: small.roomTypes['Double'] });
    const list = await service.call('GET', '/v1/staff/properties/', { headers: small.staff });
    for (const [propertyId, expected] of [
      [list.body[0].id, [body.reservation_id]],
      [propertyIds[0], []],
    ]) {
      const stays = await get(`?property_id=${propertyId}`, small.staff);
      assert.deepEqual(
        stays.body.results.map((stay: { reservation_id: string }) => stay.reservation_id),
        expected,
      );
    }
  });

  it('200: each filter lists only the stays that pass it, newest first', async () => {
    const { db } = service.database;
    const credential = hotel.credential.id;
    const cases: [string, string[]][] = [
      ['', ['house', 'ota', 'partner']],
      ['source=partner', ['partner']],
      ['source=ota', ['ota']],
      ['source=house', ['house']],
      [`credential_id=${credential}`, ['partner']],
      [`property_id=${propertyIds[0]}`, ['ota', 'partner']],
      [`property_id=${propertyIds[1]?.toUpperCase()}`, ['house']],
      [`room_type_id=${hotel.roomTypes['Bunk']}`, ['ota', 'partner']],
      [`arriving_on=${dayAhead(30)}`, ['partner']],
      [`departing_on=${dayAhead(32)}`, ['partner']],
      [`departing_on=${dayAhead(100)}`, ['ota']],
      [`departing_on=${dayAhead(31)}`, []],
      [`staying_on=${dayAhead(30)}`, ['ota', 'partner']],
      [`staying_on=${dayAhead(31)}`, ['house', 'ota', 'partner']],
      [`staying_on=${dayAhead(32)}`, ['house', 'ota']],
      [`staying_on=${dayAhead(99)}`, ['ota']],
      [`staying_on=${dayAhead(100)}`, []],
      [`staying_on=${dayAhead(9)}`, []],
      ['external_id=X-1', ['ota', 'partner']],
      ['external_id=x-1', []],
      ['email=ana@example.com', ['partner']],
      ['email=ana', []],
      ['phone=351-912-345-678', ['house', 'partner']],
      ['phone=912345678', []],
      ['name=ana', ['ota', 'partner']],
      ['name=ÁNA%20G', ['partner']],
      ['name=ana%20goncalves', ['partner']],
      ['name=zurn', ['house']],
      ['name=zu%CC%88', ['house']],
      ['name=na', []],
      ['name=ana%25', []],
      [`ids=${idOf('house')},${idOf('partner').toUpperCase()}`, ['house', 'partner']],
      [`natural_id=${(await naturalIdOf('ota')).toLowerCase()}`, ['ota']],
      ['natural_id=0000-0000', []],
      ['changed_since=2020-01-01T00:00:00Z', ['house', 'ota', 'partner']],
      ['changed_since=2120-01-01T00:00:00Z', []],
    ];
    for (const [query, expected] of cases) {
      assert.deepEqual(await named(`?${query}`), expected, query);
    }
    const { id } = await db
      .selectFrom('channel')
      .select('id')
      .where('tenant_id', '=', hotel.tenantId)
      .executeTakeFirstOrThrow();
    for (const field of ['credential_id', 'property_id', 'room_type_id', 'ids']) {
      assert.deepEqual(await named(`?${field}=${crypto.randomUUID()}`), [], field);
      assert.deepEqual(await named(`?${field}=${id}`), [], `${field} of another object`);
    }
  });

  it('200: e-mails are compared without letter case, and phones by the digits of any script', async () => {
    const other = await openHotel(service);
    const room_type_id = other.roomTypes['Bunk'];
    const guests = [
      { name: 'Partner', phone: '+٣٥١ ٩١٢ ١', email: 'José.Silva@Example.COM' },
      { name: 'House', phone: '+351 ۹۱۲ 1', email: 'JOSE\u0301.silva@example.com' },
    ];
    assert.equal((await book(service, other, { room_type_id, guest: guests[0] })).status, 201);
    assert.equal((await bookForHouse(service, other, { room_type_id, guest: guests[1] })).status, 201);
    const found = async (query: Record<string, string>) => {
      const { status, body, text } = await get(`?${new URLSearchParams(query)}`, other.staff);
      assert.equal(status, 200, text);
      return body.results.map(({ guest }: { guest: { name: string } }) => guest.name);
    };
    for (const email of ['josé.silva@example.com', 'JOSÉ.SILVA@EXAMPLE.COM', '\u200Ejose\u0301.silva@example.com ']) {
      assert.deepEqual(await found({ email }), ['House', 'Partner'], email);
    }
    assert.deepEqual(await found({ email: 'jose.silva@example.com' }), []);
    for (const phone of ['3519121', '３５１-９１２-１', guests[0]?.phone ?? '', guests[1]?.phone ?? '']) {
      assert.deepEqual(await found({ phone }), ['House', 'Partner'], phone);
    }
    assert.deepEqual(await found({ phone: '351 1' }), []);
  });

  it('200: with several filters, the list has only the stays that pass all filters', async () => {
    assert.deepEqual(await named(`?staying_on=${dayAhead(31)}&source=ota&status=confirmed&name=a`), ['ota']);
    assert.deepEqual(await named(`?name=ana&phone=351912345678&arriving_on=${dayAhead(30)}`), ['partner']);
    assert.deepEqual(await named(`?source=house&property_id=${propertyIds[0]}`), []);
  });

  it('200: order=check_in lists the earliest arrival first', async () => {
    assert.deepEqual(await named('?order=check_in'), ['ota', 'partner', 'house']);
    assert.deepEqual(await named('?order=check_in&name=ana'), ['ota', 'partner']);
  });

  it('200: changed_since finds stays that were booked or changed at this time or later', async () => {
    const own = await openHotel(service);
    const { body } = await book(service, own);
    const since = async (time: string) =>
      (await get(`?changed_since=${encodeURIComponent(time)}`, own.staff)).body.results.map(
        (row: { reservation_id: string }) => row.reservation_id,
      );
    assert.deepEqual(await since(body.created_at), [body.reservation_id]);
    const later = new Date(Date.parse(body.created_at) + 1).toISOString();
    assert.deepEqual(await since(later), []);
    assert.deepEqual(await since(body.created_at.replace('Z', '+00:00')), [body.reservation_id]);
    await setStayStatus(service, own, body.reservation_id, 'cancelled');
    assert.deepEqual(await since(later), [body.reservation_id]);
  });

  it('200: a guest name of 500 characters can be stored and found, even if the normalized form that the search uses is longer', async () => {
    const own = await openHotel(service);
    const names = ['\ufdfa'.repeat(500), `${'é'.repeat(499)}x`];
    for (const name of names) {
      const { status, text } = await bookForHouse(service, own, {
        guest: { name },
        room_type_id: own.roomTypes['Bunk'],
      });
      assert.equal(status, 201, text);
      const prefix = encodeURIComponent(name.slice(0, 100));
      const { body } = await get(`?name=${prefix}`, own.staff);
      assert.deepEqual(
        body.results.map(({ guest }: { guest: { name: string } }) => guest.name),
        [name],
      );
    }
  });

  it('400: a malformed value of a filter is refused, and the message names the filter', async () => {
    const many = Array.from({ length: 51 }, () => crypto.randomUUID()).join();
    for (const query of ['phone=abc', 'name=%CC%81', 'ids=x', `ids=${many}`, `ids=${crypto.randomUUID()},`]) {
      const [fault = ''] = faultsOf(await get(`?${query}`));
      assert.ok(fault.startsWith(`${query.split('=', 1)[0]}: `), `${query}: ${fault}`);
    }
  });
});
