import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import {
  book,
  dayAfter,
  dayAhead,
  onOneDay,
  openHotel,
  openSmallHotel,
  pmsHeaders,
  QUOTE,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { useHotel } from '#test/support/shared-service.ts';

const { service, hotel } = await useHotel();

/**
 * Asks for the price of a stay of two nights in the room type Double. `changes` replaces parameters of the call. A parameter that is null
 * in `changes` is not sent.
 */
function quote(changes: Record<string, string | number | null> = {}, of: TestHotel = hotel): Promise<Answer> {
  const query = { room_type_id: of.roomTypes['Double'], check_in: dayAhead(30), check_out: dayAhead(32), ...changes };
  const sent = Object.entries(query).filter(([, value]) => value !== null);
  const parameters = new URLSearchParams(sent.map(([name, value]): [string, string] => [name, String(value)]));
  return service.call('GET', `${QUOTE}?${parameters}`, { headers: of.partner });
}

describe('GET /v1/third-party/hotels/quote/', () => {
  it('200: a quote shows the cheapest plan, the price of each night and the total, and the booking of the stay has the same total', async () => {
    const priced = await openHotel(service);
    const pms = await pmsHeaders(service, priced);
    await writePlan(service, pms, 'rates', priced.plans['Double/Saver'], [{ date: dayAhead(31), price: '95.5' }]);
    const { status, body } = await quote({ guests: 2 }, priced);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      room_type_id: priced.roomTypes['Double'],
      check_in: dayAhead(30),
      check_out: dayAhead(32),
      guests: 2,
      rate_plan: { id: priced.plans['Double/Saver'], name: 'Saver' },
      nights: [
        { date: dayAhead(30), price: '80.00' },
        { date: dayAhead(31), price: '95.50' },
      ],
      total_amount: '175.50',
      currency: 'EUR',
    });
    assert.equal((await book(service, priced)).body.total_amount, '175.50');
  });

  it("200: without an active plan, a quote has no plan, and each night costs the room type's own price, or 0.00 if it is null", async () => {
    const nights = (price: string) => [30, 31].map((days) => ({ date: dayAhead(days), price }));
    for (const [name, price, total] of [
      ['Bunk', '25.00', '50.00'],
      ['Floor', '0.00', '0.00'],
    ] as const) {
      const { status, body } = await quote({ room_type_id: String(hotel.roomTypes[name]) });
      assert.equal(status, 200);
      assert.deepEqual([body.rate_plan, body.nights, body.total_amount], [null, nights(price), total]);
    }
  });

  it('200: a quote is for one guest if guests is missing, and its path may end without a slash', async () => {
    const whole = await quote();
    assert.deepEqual([whole.status, whole.body.guests], [200, 1]);
    const query = `room_type_id=${hotel.roomTypes['Double']}&check_in=${dayAhead(30)}&check_out=${dayAhead(31)}`;
    const bare = await service.call('GET', `${QUOTE.slice(0, -1)}?${query}`, { headers: hotel.partner });
    assert.deepEqual([bare.status, bare.body.total_amount], [200, '100.00']);
  });

  it('200: a quote takes one call from the rate-limit budget of its credential', async () => {
    const { partner } = await service.credential(hotel.tenantId);
    const own = { ...hotel, partner };
    const left = async () => {
      const { status, headers } = await quote({}, own);
      assert.equal(status, 200);
      return Number(headers.get('x-ratelimit-remaining'));
    };
    const first = await left();
    assert.equal(await left(), first - 1);
  });

  it('200: quotes write no row: no reservation, no night counter and no event', async () => {
    const fresh = await openHotel(service);
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await quote({}, fresh)).status, 200);
    }
    for (const table of ['reservation', 'night', 'event', 'rate'] as const) {
      const rows = await service.database.db.selectFrom(table).where('tenant_id', '=', fresh.tenantId).execute();
      assert.deepEqual(rows, [], table);
    }
  });

  it('400 invalid_request: too many guests and a past check-in are refused with the message that a booking gets', async () => {
    const past = (today: string) => ({ check_in: dayAfter(today, -1), check_out: dayAhead(2) });
    for (const changesOn of [() => ({ guests: 3 }), past]) {
      // The message about a past check-in contains the date of today.
      const [refused, booked] = await onOneDay('Europe/Lisbon', async (today) => {
        return [await quote(changesOn(today)), await book(service, hotel, changesOn(today))] as const;
      });
      assertError(refused, 400, 'invalid_request');
      assert.equal(refused.text, booked.text);
    }
  });

  it('400 invalid_request: a check_out that is not after check_in, or is more than 730 nights later, is refused', async () => {
    for (const [days, fault] of [
      [30, /^check_out: must be after check_in/],
      [30 + 731, /^check_out: must be at most 730 nights/],
    ] as const) {
      assert.match(faultsOf(await quote({ check_out: dayAhead(days) })).join(), fault);
    }
  });

  it('409 room_not_available: a quote is refused if a night is full, no plan allows the stay, or the room type has no rooms', async () => {
    const small = await openSmallHotel(service, [
      { name: 'Double', max_occupancy: 2, base_price: '90.00', physical_capacity: 1 },
      { name: 'None', max_occupancy: 2, base_price: '90.00', physical_capacity: 0 },
      {
        name: 'Weekly',
        max_occupancy: 2,
        physical_capacity: 1,
        rate_plans: [{ name: 'Weekly', base_price: '50.00', min_nights: 7 }],
      },
    ]);
    const booked = await book(service, small, { check_in: dayAhead(31), check_out: dayAhead(32) });
    assert.equal(booked.status, 201, booked.text);
    assertError(await quote({}, small), 409, 'room_not_available');
    assert.equal((await quote({ check_out: dayAhead(31) }, small)).status, 200);
    for (const name of ['None', 'Weekly']) {
      assertError(await quote({ room_type_id: String(small.roomTypes[name]) }, small), 409, 'room_not_available');
    }
    const week = await quote({ room_type_id: String(small.roomTypes['Weekly']), check_out: dayAhead(37) }, small);
    assert.equal(week.body.total_amount, '350.00');
  });
});
