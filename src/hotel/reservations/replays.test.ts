import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  dayAhead,
  eventsOf,
  openHotel,
  openSmallHotel,
  pmsHeaders,
  reservationPath,
  sellable,
  writePlan,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { useHotel } from '#test/support/shared-service.ts';

const { service, hotel } = await useHotel();

function assertReplayed(answer: Answer, first: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('idempotent-replayed'), 'true');
  assert.equal(answer.text, first.text, 'the body is equal to the body of the 201');
}

describe('POST /v1/third-party/hotels/reservations/ with an external id that was used before', () => {
  it('200: a repeated booking gets the body of the first response, holds no more nights and writes no event', async () => {
    const own = await openHotel(service);
    const first = await book(service, own, { external_reservation_id: 'once' });
    assert.equal(first.status, 201);
    for (let count = 0; count < 3; count += 1) {
      assertReplayed(await book(service, own, { external_reservation_id: 'once' }), first);
    }
    assert.deepEqual(await sellable(service, own, own.roomTypes['Double'], dayAhead(30), dayAhead(33)), [2, 2, 3]);
    assert.equal((await eventsOf(service, own.tenantId)).length, 1);
    await assertNightCounters(service, own.tenantId);
  });

  it('200: a repeated booking with other valid values gets the stored reservation; 400: an invalid field is refused', async () => {
    const first = await book(service, hotel, { external_reservation_id: 'other body' });
    for (const changes of [
      { check_in: dayAhead(90), check_out: dayAhead(99) },
      { check_in: '2001-01-01', check_out: '2001-01-02' },
      { guests: 1_000 },
      { room_type_id: '00000000-0000-7000-8000-000000000000' },
      { room_type_id: hotel.roomTypes['Suite'] },
      { guest: { name: 'Someone else', phone: '2' } },
    ]) {
      assertReplayed(await book(service, hotel, { external_reservation_id: 'other body', ...changes }), first);
    }
    assert.match(
      faultsOf(await book(service, hotel, { external_reservation_id: 'other body', guests: 0 })).join(),
      /^guests/,
    );
  });

  it('200: a repeated booking gets the stored reservation even if the room type is full, closed, inactive or without rooms', async () => {
    const rooms = (physical_capacity: number, name = 'Double') => [
      { name, max_occupancy: 2, physical_capacity, rate_plans: [{ name: 'Flexible', base_price: '10.00' }] },
    ];
    const own = await openSmallHotel(service, rooms(1));
    const first = await book(service, own, { external_reservation_id: 'kept' });
    const again = () => book(service, own, { external_reservation_id: 'kept' });
    const refuses = async (status: number, code: string) => assertError(await book(service, own), status, code);

    await refuses(409, 'room_not_available');
    assertReplayed(await again(), first);

    const pms = await pmsHeaders(service, own);
    const closed = [{ date: dayAhead(30), stop_sell: true, min_nights: 9 }];
    await writePlan(service, pms, 'restrictions', own.plans['Double/Flexible'], closed);
    assertReplayed(await again(), first);

    const [property] = own.document.properties ?? [];
    assert.ok(property);
    const change = (room_types: ReturnType<typeof rooms>) =>
      service.apply({ ...own.document, properties: [{ ...property, room_types }] });
    await change(rooms(0));
    assertReplayed(await again(), first);
    await change(rooms(5, 'Another'));
    await refuses(404, 'room_type_not_found');
    assertReplayed(await again(), first);
  });

  it('200: a repeated booking of a cancelled reservation gets the cancelled reservation, even if the body has past dates', async () => {
    const own = await openHotel(service);
    const first = await book(service, own, { external_reservation_id: 'stands' });
    await service.call('POST', reservationPath('stands', 'cancel/'), { headers: own.partner });
    const cancelled = await book(service, own, { external_reservation_id: 'stands' });
    assert.equal(cancelled.status, 200);
    assert.deepEqual(cancelled.body, { ...first.body, status: 'cancelled' });
    assert.deepEqual(await sellable(service, own, own.roomTypes['Double'], dayAhead(30), dayAhead(32)), [3, 3]);
    const past = { external_reservation_id: 'stands', check_in: dayAhead(-3), check_out: dayAhead(-1) };
    assert.deepEqual((await book(service, own, past)).body, cancelled.body);
  });

  it('201, 200: if 20 concurrent bookings have the same external id, one gets 201, 19 get 200, and the nights are held once', async () => {
    const own = await openHotel(service);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => book(service, own, { external_reservation_id: 'at once' })),
    );
    const created = answers.filter(({ status }) => status === 201);
    const [first] = created;
    assert.equal(created.length, 1);
    assert.ok(first);
    assert.equal(first.headers.get('idempotent-replayed'), null);
    for (const answer of answers.filter((each) => each !== first)) {
      assertReplayed(answer, first);
    }
    assert.deepEqual(await sellable(service, own, own.roomTypes['Double'], dayAhead(30), dayAhead(32)), [2, 2]);
    assert.equal((await eventsOf(service, own.tenantId)).length, 1);
    await assertNightCounters(service, own.tenantId);
  });

  it('201: an external id can be used again if all earlier bookings with this id were refused', async () => {
    const id = { external_reservation_id: 'second try' };
    assertError(await book(service, hotel, { ...id, room_type_id: crypto.randomUUID() }), 404, 'room_type_not_found');
    faultsOf(await book(service, hotel, { ...id, guests: 3 }));
    await book(service, hotel, { room_type_id: hotel.roomTypes['Suite'] });
    const full = await book(service, hotel, { ...id, room_type_id: hotel.roomTypes['Suite'] });
    assertError(full, 409, 'room_not_available');
    assert.equal((await book(service, hotel, id)).status, 201);
  });
});
