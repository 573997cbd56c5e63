import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { makeChannel, nowSeconds, RECEIVER, sendReservation } from '#test/support/channel.ts';
import {
  book,
  dayAfter,
  dayAhead,
  eventsOf,
  setStayStatus,
  openHotel,
  pmsHeaders,
  RESERVATIONS,
  reservationPath,
  writePlan,
} from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';

const { service, hotel } = await useHotel();
const channel = await makeChannel(service, hotel);
const pms = await pmsHeaders(service, hotel);

const STATUSES = ['pending', 'confirmed', 'cancelled', 'no_show', 'completed', 'expired'];
const HOLDING = ['pending', 'confirmed', 'no_show', 'completed'];
const UNKNOWN = '01920000-0000-7000-8000-000000000000';

let made = 0;
/** Returns the body of an OTA's call: two nights in the room type Double, with a new external id. `changes` replaces these defaults. */
function booking(changes: Record<string, unknown> = {}): Record<string, unknown> & { external_id: string } {
  made += 1;
  return {
    external_id: `ota ${made}`,
    status: 'confirmed',
    room_type_id: hotel.roomTypes['Double'],
    check_in: dayAhead(60),
    check_out: dayAhead(62),
    guest: { full_name: 'Ada Lovelace' },
    ...changes,
  };
}

/**
 * Unix time in seconds at which the tests begin, plus one second for each call so far. A `before` hook sets it, because this file may be
 * imported minutes before its tests begin, and the service refuses old timestamps.
 */
let clock: number;
before(() => {
  clock = nowSeconds();
});
/** Sends a call whose timestamp is one second after that of the previous call, so that the service does not treat it as outdated. */
const send = (reservation: Record<string, unknown>) =>
  sendReservation(service, channel, reservation, (clock += 1) - 200);

async function inventory(roomTypeId: string | undefined, checkIn: string, checkOut: string): Promise<number[]> {
  const query = `room_type_id=${roomTypeId}&check_in=${checkIn}&check_out=${checkOut}`;
  const { body } = await service.call('GET', `/v1/channel-manager/pms/inventory/?${query}`, { headers: pms });
  return body.map((night: { sellable: number }) => night.sellable);
}

const stored = async (id: string) =>
  (await service.call('GET', `/v1/staff/reservations/${id}/`, { headers: hotel.staff })).body;

describe('new reservation of an OTA', () => {
  it('201: the response to a new OTA reservation is equal to the reservation in the PMS API', async () => {
    const guest = { full_name: 'Ada Lovelace', phone: '+44 1', email: 'ada@example.com' };
    const sent = booking({ check_in: '2027-07-01', check_out: '2027-07-03', guest, guests: 2, total_amount: 199.5 });
    const { status, body } = await send(sent);
    assert.equal(status, 201);
    const { id, natural_id } = body;
    assert.deepEqual(body, {
      id,
      natural_id,
      status: 'confirmed',
      check_in_date: '2027-07-01T14:00:00.000Z',
      check_out_date: '2027-07-03T10:00:00.000Z',
      room_type_id: hotel.roomTypes['Double'],
      total_amount: '199.50',
      external_source: 'an-ota',
      external_id: sent.external_id,
      guest,
    });
    const shown = await service.call('GET', `/v1/channel-manager/pms/reservations/${id}/`, { headers: pms });
    assert.deepEqual(shown.body, body);
    assert.equal((await stored(id)).guests, 2);
  });

  it('201: an OTA call may omit guest count, amount, phone, e-mail and rate plan, and phone, e-mail and rate plan may also be null', async () => {
    const guest = { full_name: 'A', phone: null, email: null };
    for (const changes of [{}, { guest, rate_plan_id: null }]) {
      const { status, body } = await send(booking(changes));
      assert.equal(status, 201);
      assert.deepEqual([body.guest.phone, body.guest.email, (await stored(body.id)).guests], [null, null, 1]);
    }
  });

  it('201: an OTA may create a reservation in any status, and the reservation holds a room unless its status is cancelled or expired', async () => {
    for (const [index, status] of STATUSES.entries()) {
      const check_in = dayAhead(100 + index);
      const answer = await send(booking({ status, check_in, check_out: dayAfter(check_in, 1) }));
      assert.deepEqual([answer.status, answer.body.status], [201, status]);
      const left = await inventory(hotel.roomTypes['Double'], check_in, dayAfter(check_in, 1));
      assert.deepEqual(left, [HOLDING.includes(status) ? 2 : 3], status);
    }
  });

  it('201: an OTA may create a reservation with past dates, any number of guests and 730 nights', async () => {
    const past = await send(booking({ check_in: '2019-02-28', check_out: '2021-02-27', guests: 2_147_483_647 }));
    assert.equal(past.status, 201, past.text);
    assert.equal((await stored(past.body.id)).guests, 2_147_483_647);
  });

  it('201: the same external id from two sources makes two reservations; 200: from two channels of one source, the id names one reservation', async () => {
    const elsewhere = await makeChannel(service, hotel, 'elsewhere');
    const twin = await makeChannel(service, hotel, channel.source);
    const sent = booking();
    const first = await send(sent);
    const second = await sendReservation(service, elsewhere, sent);
    assert.deepEqual([second.status, second.body.external_source], [201, 'elsewhere']);
    assert.notEqual(second.body.id, first.body.id);
    const third = await sendReservation(service, twin, sent);
    assert.deepEqual([third.status, third.body.id], [200, first.body.id]);
  });

  it('201: an OTA call may give the ids of the room type and of the rate plan in capital letters', async () => {
    const plan = hotel.plans['Double/Saver'];
    const room_type_id = hotel.roomTypes['Double']?.toUpperCase();
    const { status, body } = await send(booking({ room_type_id, rate_plan_id: plan?.toUpperCase() }));
    assert.deepEqual([status, body.room_type_id, body.total_amount], [201, hotel.roomTypes['Double'], '160.00']);
    const again = await send({ ...booking({ room_type_id }), external_id: body.external_id });
    assert.equal(again.status, 200);
    assert.equal((await stored(body.id)).rate_plan_id, plan);
  });
});

describe('price of a new reservation of an OTA', () => {
  const total = async (changes: Record<string, unknown>) => (await send(booking(changes))).body.total_amount;
  const oneNight = { check_out: dayAhead(61) };

  it('the total of a new OTA reservation is the total_amount of the call, rounded half up to two decimals', async () => {
    for (const [total_amount, shown] of [
      [0, '0.00'],
      ['7.5', '7.50'],
      [99_999_999.99, '99999999.99'],
      [349.995, '350.00'],
      ['349.995', '350.00'],
      ['349.994999', '349.99'],
      [299.999_999_999_999_94, '300.00'],
      [1e-7, '0.00'],
    ] as const) {
      assert.equal(await total({ total_amount }), shown);
    }
  });

  it('400: a total_amount that is too large after it was rounded is refused', async () => {
    const answer = await send(booking({ total_amount: '99999999.995' }));
    const message = 'total_amount: must be at most 99999999.99 after it is rounded';
    assert.deepEqual([answer.status, answer.body], [400, { code: 'invalid_request', message }]);
  });

  it('an OTA stay without total_amount costs the price of its plan, even if the plan is inactive or requires more nights', async () => {
    assert.equal(await total({ rate_plan_id: hotel.plans['Double/Flexible'] }), '200.00');
    assert.equal(await total({ rate_plan_id: hotel.plans['Double/Closed for good'] }), '2.00');
    assert.equal(await total({ rate_plan_id: hotel.plans['Double/Saver'], ...oneNight }), '80.00');
  });

  it('if an OTA call names no plan and no total_amount, the total is the sum of nightly prices of the cheapest open plan', async () => {
    assert.equal(await total({}), '160.00');
    assert.equal(await total(oneNight), '100.00', 'the plan Saver requires two nights');
    const nights = { check_in: dayAhead(70), check_out: dayAhead(72) };
    await writePlan(service, pms, 'rates', hotel.plans['Double/Flexible'], [{ date: dayAhead(70), price: 10.25 }]);
    assert.equal(await total(nights), '110.25');
    await writePlan(service, pms, 'restrictions', hotel.plans['Double/Flexible'], [
      { date: dayAhead(71), stop_sell: true },
    ]);
    assert.equal(await total(nights), '160.00');
  });

  it('if all plans are sold out on a night, an OTA reservation is not refused and gets the price of the cheapest plan', async () => {
    for (const plan of ['Flexible', 'Saver']) {
      const closed = [{ date: dayAhead(75), price: plan === 'Saver' ? 300 : 200, is_sold_out: true }];
      await writePlan(service, pms, 'rates', hotel.plans[`Double/${plan}`], closed);
    }
    assert.equal(await total({ check_in: dayAhead(75), check_out: dayAhead(76) }), '200.00');
  });

  it("an OTA reservation of a room type without plans costs the room type's own price, or 0.00 if that price is null", async () => {
    assert.equal(await total({ room_type_id: hotel.roomTypes['Bunk'] }), '50.00');
    assert.equal(await total({ room_type_id: hotel.roomTypes['Floor'] }), '0.00');
  });
});

describe('change of a reservation by an OTA', () => {
  it('200: an OTA may change a reservation from any status to any other status, and the number of sellable rooms changes accordingly', async () => {
    const stay = { check_in: dayAhead(200), check_out: dayAhead(201) };
    const sent = booking(stay);
    const { body } = await send(sent);
    for (const status of STATUSES.flatMap((from) => STATUSES.flatMap((to) => [from, to]))) {
      const answer = await send({ ...sent, status });
      assert.deepEqual([answer.status, answer.body.id, answer.body.status], [200, body.id, status]);
      const left = await inventory(hotel.roomTypes['Double'], stay.check_in, stay.check_out);
      assert.deepEqual(left, [HOLDING.includes(status) ? 2 : 3], status);
    }
  });

  it('200: an OTA may change guest, amount, guest count and plan; an omitted amount, guest count or plan stays unchanged', async () => {
    const sent = booking({ guests: 2, total_amount: '150.00', rate_plan_id: hotel.plans['Double/Saver'] });
    const { body } = await send(sent);
    const { guests, total_amount, rate_plan_id, ...rest } = sent;
    const longer = await send({
      ...rest,
      check_out: dayAhead(65),
      guest: { full_name: 'Bo', email: 'bo@example.com' },
    });
    assert.equal(longer.status, 200);
    assert.equal(longer.body.total_amount, '150.00');
    assert.deepEqual(longer.body.guest, { full_name: 'Bo', phone: null, email: 'bo@example.com' });
    const kept = await stored(body.id);
    assert.deepEqual([kept.guests, kept.rate_plan_id], [2, hotel.plans['Double/Saver']]);
    const dearer = await send({ ...sent, guests: 9, total_amount: 151, rate_plan_id: hotel.plans['Double/Flexible'] });
    assert.equal(dearer.body.total_amount, '151.00');
    const changed = await stored(body.id);
    assert.deepEqual([changed.guests, changed.rate_plan_id], [9, hotel.plans['Double/Flexible']]);
    assert.deepEqual([changed.natural_id, changed.created_at], [kept.natural_id, kept.created_at]);
  });

  it('200: no event is written for an OTA reservation, neither by calls of the OTA nor by changes of staff', async () => {
    const eventsBefore = await eventsOf(service, hotel.tenantId);
    const sent = booking();
    const { body } = await send(sent);
    await send({ ...sent, status: 'pending' });
    for (const status of ['confirmed', 'no_show', 'cancelled']) {
      assert.equal((await setStayStatus(service, hotel, body.id, status)).status, 200);
    }
    await send(sent);
    assert.deepEqual(await eventsOf(service, hotel.tenantId), eventsBefore);
  });

  it("404: a partner can neither read nor cancel an OTA's reservation by any id of the reservation, and the partner's list does not show the reservation", async () => {
    const { body } = await send(booking());
    for (const id of [body.external_id, body.id, body.natural_id]) {
      const headers = hotel.partner;
      assertError(await service.call('GET', reservationPath(id), { headers }), 404, 'reservation_not_found');
      assertError(
        await service.call('POST', reservationPath(id, 'cancel/'), { headers }),
        404,
        'reservation_not_found',
      );
    }
    const list = await service.call('GET', RESERVATIONS, { headers: hotel.partner });
    assert.equal(list.text.includes(body.id), false);
    const mine = await book(service, hotel, {
      external_reservation_id: body.external_id,
      check_in: dayAhead(90),
      check_out: dayAhead(91),
    });
    assert.deepEqual([mine.status, mine.body.reservation_id === body.id], [201, false]);
  });
});

describe('refusals of a validly signed OTA call', () => {
  it('404: an OTA call makes no reservation if the room type or plan is unknown or of another tenant, or if the plan belongs to another room type', async () => {
    const stranger = await openHotel(service);
    const sent = booking();
    for (const changes of [
      { room_type_id: UNKNOWN },
      { room_type_id: stranger.roomTypes['Double'] },
      { rate_plan_id: UNKNOWN },
      { rate_plan_id: stranger.plans['Double/Flexible'] },
      { rate_plan_id: hotel.plans['Suite/Suite rate'] },
    ]) {
      assertError(await send({ ...sent, ...changes }), 404, 'error');
    }
    assert.equal((await send(sent)).status, 201);
  });

  it('404: the message says that a plan of another room type is not a plan of the room type, in a new and in a stored reservation', async () => {
    const sent = booking();
    for (const status of [201, 200]) {
      const refused = await send({ ...sent, rate_plan_id: hotel.plans['Suite/Suite rate'] });
      assert.equal(assertError(refused, 404, 'error'), 'No such rate plan of this room type.');
      assert.equal((await send(sent)).status, status);
    }
  });

  it('404: a new OTA reservation of an inactive room type is refused; 200: its stored reservations can still be changed', async () => {
    const own = await openHotel(service);
    const ota = await makeChannel(service, own);
    const sent = booking({ room_type_id: own.roomTypes['Double'] });
    assert.equal((await sendReservation(service, ota, sent, nowSeconds() - 10)).status, 201);
    await service.apply({ ...own.document, properties: [] });
    assertError(await sendReservation(service, ota, { ...sent, external_id: 'new' }), 404, 'error');
    const cancelled = await sendReservation(service, ota, { ...sent, status: 'cancelled' });
    assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled']);
  });

  it('400: an OTA call is refused if its check_out is not after check_in, or is more than 730 nights later', async () => {
    for (const dates of [
      { check_in: dayAhead(5), check_out: dayAhead(5) },
      { check_in: dayAhead(5), check_out: dayAhead(4) },
      { check_in: '2027-01-01', check_out: '2029-01-01' },
    ]) {
      const found = faultsOf(await send(booking(dates)));
      assert.ok(found.length === 1 && found[0]?.startsWith('check_out: '), found.join());
    }
  });

  it("405: GET on the receiver is refused; 404: an unknown path that begins with the receiver's path is refused", async () => {
    assertError(await service.call('GET', RECEIVER), 405, 'error');
    assertError(await service.call('POST', `${RECEIVER}x/`), 404, 'error');
  });
});
