import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  dayAfter,
  dayAhead,
  eventsOf,
  openChannel,
  openHotel,
  openSmallHotel,
  pmsHeaders,
  RESERVATIONS,
  sellable,
  stay,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { sampleHotel } from '#test/support/tenants.ts';
import { todayIn } from '#platform/lib/dates.ts';

const { service, hotel } = await useHotel();

/**
 * Asserts that the tenant has exactly `reservations` reservations and as many events, and that its night counters agree with its
 * reservations.
 */
async function assertOnlyStored(reservations: number, tenant: TestHotel): Promise<void> {
  const list = await service.call('GET', RESERVATIONS, { headers: tenant.partner });
  assert.equal(list.body.length, reservations);
  assert.equal((await eventsOf(service, tenant.tenantId)).length, reservations);
  await assertNightCounters(service, tenant.tenantId);
}

describe('POST /v1/third-party/hotels/reservations/ refuses', () => {
  it('400: a stay whose check_out is not after check_in, or that has more than 730 nights, is refused', async () => {
    for (const [check_in, check_out] of [
      ['2096-05-05', '2096-05-05'],
      ['2096-05-05', '2096-05-04'],
      ['2096-05-05', '2095-05-06'],
      ['2090-01-01', '2092-01-02'],
      ['0001-01-01', '9999-12-31'],
    ]) {
      const [fault, ...rest] = faultsOf(await book(service, hotel, { check_in, check_out }));
      assert.match(fault ?? '', /^check_out: /);
      assert.deepEqual(rest, []);
    }
  });

  it('400: a check_in before today in the time zone of the property is refused', async () => {
    const stays = [
      // The time zones of Pago Pago and Kiritimati differ by 25 hours. So today's date in Pago Pago is always a past date in Kiritimati,
      // where the hotel Lagoon Lodge is.
      { room_type_id: hotel.roomTypes['Lagoon Lodge/Double'], check_in: todayIn('Pacific/Pago_Pago') },
      { room_type_id: hotel.roomTypes['Double'], check_in: dayAfter(todayIn('Europe/Lisbon'), -1) },
      { room_type_id: hotel.roomTypes['Double'], check_in: '2020-02-29' },
    ];
    for (const changes of stays) {
      const check_out = dayAfter(changes.check_in, 7);
      assert.match(faultsOf(await book(service, hotel, { ...changes, check_out })).join(), /^check_in: /);
    }
    const reef = await openSmallHotel(
      service,
      [{ name: 'Double', max_occupancy: 2, physical_capacity: 1 }],
      'Pacific/Pago_Pago',
    );
    const yesterday = dayAfter(todayIn('Pacific/Pago_Pago'), -1);
    assert.match(faultsOf(await book(service, reef, { check_in: yesterday })).join(), /^check_in: /);
  });

  it('400: a booking with more guests than the max_occupancy of the room type is refused', async () => {
    assert.match(faultsOf(await book(service, hotel, { guests: 3 })).join(), /^guests: .*\b2\b/);
    assert.match(
      faultsOf(await book(service, hotel, { guests: 2, room_type_id: hotel.roomTypes['Bunk'] })).join(),
      /^guests: /,
    );
    await assertOnlyStored(0, hotel);
  });

  it('404: the response is the same if the room type is unknown, is inactive or belongs to another tenant', async () => {
    const own = await openHotel(service);
    const document = { ...own.document, properties: sampleHotel().slice(0, 1) };
    document.properties[0]?.room_types?.splice(1);
    await service.apply(document);
    const texts = [];
    for (const room_type_id of [
      '00000000-0000-7000-8000-000000000000',
      hotel.roomTypes['Double'],
      own.roomTypes['Suite'],
      own.roomTypes['Lagoon Lodge/Double'],
    ]) {
      const answer = await book(service, own, { room_type_id });
      assertError(answer, 404, 'room_type_not_found');
      texts.push(answer.text);
    }
    assert.equal(new Set(texts).size, 1);
    assert.equal((await book(service, own)).status, 201, 'a room type that the document still names can be booked');
  });

  it('409: a booking is refused if the room type is full on one night of the stay', async () => {
    const own = await openHotel(service);
    const room_type_id = own.roomTypes['Suite'];
    await book(service, own, { room_type_id, check_in: dayAhead(21), check_out: dayAhead(22) });
    for (const [from, until] of [
      [20, 23],
      [21, 22],
      [19, 22],
      [21, 30],
    ] as const) {
      const refused = await book(service, own, { room_type_id, check_in: dayAhead(from), check_out: dayAhead(until) });
      assertError(refused, 409, 'room_not_available');
    }
    await assertOnlyStored(1, own);
    for (const [from, until] of [
      [20, 21],
      [22, 23],
    ] as const) {
      const taken = await book(service, own, { room_type_id, check_in: dayAhead(from), check_out: dayAhead(until) });
      assert.equal(taken.status, 201, 'the nights before and after the full night can be booked');
    }
    assert.deepEqual(await sellable(service, own, room_type_id, dayAhead(19), dayAhead(24)), [1, 0, 0, 0, 1]);
  });

  it('409: a booking is refused if the room type has no rooms, or if its capacity was lowered until no room is left', async () => {
    const rooms = (physical_capacity: number) => [{ name: 'Double', max_occupancy: 2, physical_capacity }];
    const own = await openSmallHotel(service, rooms(0));
    assertError(await book(service, own), 409, 'room_not_available');
    await assertOnlyStored(0, own);
    const [property] = own.document.properties ?? [];
    assert.ok(property);
    const resize = async (count: number) => {
      await service.apply({
        ...own.document,
        properties: [{ ...property, room_types: rooms(count) }],
      });
    };
    await resize(2);
    assert.equal((await book(service, own)).status, 201);
    await resize(1);
    assertError(await book(service, own), 409, 'room_not_available');
    await resize(0);
    assertError(await book(service, own), 409, 'room_not_available');
    assert.deepEqual(await sellable(service, own, own.roomTypes['Double'], dayAhead(30), dayAhead(31)), [-1]);
    await assertOnlyStored(1, own);
  });

  it('409: bookings of a room type that OTAs have oversold are refused until a room is free again', async () => {
    const own = await openHotel(service);
    const sendReservation = await openChannel(service, own);
    const room_type_id = own.roomTypes['Suite'];
    for (const external_id of ['1', '2']) {
      assert.equal((await sendReservation({ room_type_id, external_id })).status, 201);
    }
    assertError(await book(service, own, { room_type_id }), 409, 'room_not_available');
    await sendReservation({ room_type_id, external_id: '1', status: 'cancelled' });
    assertError(await book(service, own, { room_type_id }), 409, 'room_not_available');
    await sendReservation({ room_type_id, external_id: '2', status: 'cancelled' });
    assert.equal((await book(service, own, { room_type_id })).status, 201);
    await assertNightCounters(service, own.tenantId);
  });

  it('409: bookings of a night on which all active plans are closed are refused until a plan is opened', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    const close = (plan: string, stop_sell: boolean) =>
      writePlan(service, pms, 'restrictions', own.plans[plan], [{ date: dayAhead(31), stop_sell }]);
    await close('Double/Flexible', true);
    assert.equal((await book(service, own)).body.total_amount, '160.00', 'the plan Saver is still open');
    await close('Double/Saver', true);
    assertError(await book(service, own), 409, 'room_not_available');
    await close('Double/Flexible', false);
    assert.equal((await book(service, own)).body.total_amount, '200.00');
  });

  it('409: a stay of two nights is refused if one plan is closed on night 1 and the other plan on night 2', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    await writePlan(service, pms, 'rates', own.plans['Double/Flexible'], [
      { date: dayAhead(30), price: 1, is_sold_out: true },
    ]);
    await writePlan(service, pms, 'rates', own.plans['Double/Saver'], [
      { date: dayAhead(31), price: 1, is_sold_out: true },
    ]);
    assertError(await book(service, own), 409, 'room_not_available');
    await assertOnlyStored(0, own);
  });

  it('409: a stay that is shorter than the min_nights of every plan is refused', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    await writePlan(service, pms, 'restrictions', own.plans['Double/Flexible'], [
      { date: dayAhead(300), min_nights: 3 },
    ]);
    assertError(await book(service, own, { check_out: dayAhead(31) }), 409, 'room_not_available');
    assert.equal((await book(service, own, { check_out: dayAhead(32) })).body.total_amount, '160.00');
  });

  it('409: the message says whether a night is full, or rooms are left but no rate plan fits the stay', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    const room_type_id = own.roomTypes['Suite'];
    const one = { room_type_id, check_out: dayAhead(31) };
    await writePlan(service, pms, 'restrictions', own.plans['Suite/Suite rate'], [
      { date: dayAhead(300), min_nights: 2 },
    ]);
    assert.deepEqual(await sellable(service, own, room_type_id, dayAhead(30), dayAhead(31)), [1]);
    assert.match(assertError(await book(service, own, one), 409, 'room_not_available'), /^No rate plan is open/);
    assert.equal((await book(service, own, { room_type_id })).status, 201);
    assert.match(
      assertError(await book(service, own, { room_type_id }), 409, 'room_not_available'),
      /^A night of the stay is full\./,
    );
  });

  it('404, 400: a booking with several errors reports an unknown room type first, then too many guests, then a full room type', async () => {
    const full = { room_type_id: hotel.roomTypes['Suite'] };
    assert.equal((await book(service, hotel, full)).status, 201);
    assert.match(faultsOf(await book(service, hotel, { ...full, guests: 5 })).join(), /^guests/);
    const unknown = { room_type_id: '00000000-0000-7000-8000-000000000000', guests: 99 };
    assertError(await book(service, hotel, unknown), 404, 'room_type_not_found');
    assertError(
      await service.call('POST', RESERVATIONS, { headers: hotel.partner, json: [stay(hotel)] }),
      400,
      'invalid_request',
    );
  });
});
