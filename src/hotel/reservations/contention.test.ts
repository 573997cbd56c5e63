import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { countByStatus } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  dayAhead,
  eventsOf,
  openHotel,
  openHotelOf,
  RESERVATIONS,
  reservationPath,
  sellable,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { startService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { nightsOf } from '#platform/lib/dates.ts';

const service = await useService();

/**
 * Repeats the call until the response is not 503, each time after a random wait of at most 1 s. The contract asks callers to do this. On a
 * busy machine a call may get 503, because it waits too long for a database connection.
 */
async function persist(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.status !== 503) {
      return answer;
    }
    await sleep(Math.random() * 1_000);
  }
}

describe('concurrent bookings', { timeout: 300_000 }, () => {
  it('201, 409: if 500 concurrent bookings need the same 10 rooms, exactly 10 bookings get 201, and 490 get 409', async () => {
    const hotel = await openHotelOf(service, 10);
    const answers = await Promise.all(Array.from({ length: 500 }, () => persist(() => book(service, hotel))));
    assert.deepEqual(countByStatus(answers), { 201: 10, 409: 490 });
    const codes = new Set(answers.filter(({ status }) => status === 409).map(({ body }) => body.code));
    assert.deepEqual([...codes], ['room_not_available']);
    assert.deepEqual(
      await sellable(service, hotel, hotel.roomTypes['Double'], dayAhead(29), dayAhead(33)),
      [10, 0, 0, 10],
    );
    const list = await service.call('GET', RESERVATIONS, { headers: hotel.partner });
    assert.deepEqual(
      new Set(list.body.map((row: { reservation_id: string }) => row.reservation_id)),
      new Set(answers.flatMap(({ status, body }) => (status === 201 ? [body.reservation_id] : []))),
    );
    assert.equal((await eventsOf(service, hotel.tenantId)).length, 10, 'a refused booking has no event');
    await assertNightCounters(service, hotel.tenantId);
  });

  it('if 30 concurrent bookings of different lengths need the same night and 3 rooms are free, exactly 3 get 201', async () => {
    const hotel = await openHotelOf(service, 3);
    const stays = Array.from({ length: 30 }, (_, index) => ({
      check_in: dayAhead(60 - (index % 7)),
      check_out: dayAhead(61 + (index % 11)),
    }));
    const answers = await Promise.all(stays.map((each) => persist(() => book(service, hotel, each))));
    assert.deepEqual(countByStatus(answers), { 201: 3, 409: 27 });
    assert.deepEqual(await sellable(service, hotel, hotel.roomTypes['Double'], dayAhead(60), dayAhead(61)), [0]);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('random overlapping bookings never exceed the capacity, and a booking is refused only if one of its nights is full', async () => {
    const length = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 60 }));
    const stays = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), length), { minLength: 40, maxLength: 40 });
    const property = fc.asyncProperty(stays, fc.integer({ min: 1, max: 4 }), async (plan, capacity) => {
      const hotel = await openHotelOf(service, capacity);
      const dates = plan.map(([from, nights]) => ({
        check_in: dayAhead(30 + from),
        check_out: dayAhead(30 + from + nights),
      }));
      const answers = await Promise.all(dates.map((each) => persist(() => book(service, hotel, each))));
      const held = new Map<string, number>();
      for (const [index, { check_in, check_out }] of dates.entries()) {
        for (const night of answers[index]?.status === 201 ? nightsOf(check_in, check_out) : []) {
          held.set(night, (held.get(night) ?? 0) + 1);
        }
      }
      assert.ok(Math.max(...held.values()) <= capacity);
      for (const [index, { check_in, check_out }] of dates.entries()) {
        const { status } = answers[index] ?? {};
        assert.ok(status === 201 || status === 409, `${status}`);
        const isFull = nightsOf(check_in, check_out).some((night) => held.get(night) === capacity);
        assert.ok(status === 201 || isFull, `${check_in} to ${check_out} was refused`);
      }
      const days = await sellable(service, hotel, hotel.roomTypes['Double'], dayAhead(30), dayAhead(131));
      const left = nightsOf(dayAhead(30), dayAhead(131)).map((night) => capacity - (held.get(night) ?? 0));
      assert.deepEqual(days, left);
      await assertNightCounters(service, hotel.tenantId);
    });
    await fc.assert(property, { numRuns: 5, endOnFailure: true });
  });

  it('201: if a cancellation frees the only room, exactly one of the bookings during and after the cancellation succeeds', async () => {
    const hotel = await openHotelOf(service, 1);
    let holder: string = (await book(service, hotel)).body.external_reservation_id;
    for (let round = 0; round < 20; round += 1) {
      const [cancelled, ...contenders] = await Promise.all([
        persist(() => service.call('POST', reservationPath(holder, 'cancel/'), { headers: hotel.partner })),
        ...Array.from({ length: 6 }, () => persist(() => book(service, hotel))),
      ]);
      assert.equal(cancelled.status, 200);
      const late = await persist(() => book(service, hotel));
      const winners = [...contenders, late].filter(({ status }) => status === 201);
      assert.equal(winners.length, 1, JSON.stringify(countByStatus([...contenders, late])));
      holder = winners[0]?.body.external_reservation_id;
    }
    assert.deepEqual(await sellable(service, hotel, hotel.roomTypes['Double'], dayAhead(30), dayAhead(32)), [0, 0]);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('201, 409: if two nodes get 100 concurrent bookings for the same 5 rooms, exactly 5 bookings get 201, and 95 get 409', async (t) => {
    const other = await startService({ beside: service, config: { rateLimitPerMinute: 1_000_000 } });
    t.after(() => other.close());
    const hotel = await openHotelOf(service, 5);
    const nodes = [service, other];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => persist(() => book(nodes[index % 2] ?? service, hotel))),
    );
    assert.deepEqual(countByStatus(answers), { 201: 5, 409: 95 });
    await assertNightCounters(service, hotel.tenantId);
  });

  it('concurrent bookings of several room types and tenants fill each room type exactly to its capacity', async () => {
    const [one, two] = [await openHotel(service), await openHotel(service)];
    const stays = [one, two].flatMap((hotel) =>
      ['Double', 'Suite', 'Bunk', 'Floor'].flatMap((name) =>
        Array.from({ length: 12 }, () => ({ hotel, room_type_id: hotel.roomTypes[name] })),
      ),
    );
    const answers = await Promise.all(
      stays.map(({ hotel, room_type_id }) => persist(() => book(service, hotel, { room_type_id }))),
    );
    assert.deepEqual(countByStatus(answers), { 201: 2 * (3 + 1 + 10 + 2), 409: 2 * (9 + 11 + 2 + 10) });
    await assertNightCounters(service, one.tenantId);
    await assertNightCounters(service, two.tenantId);
  });
});
