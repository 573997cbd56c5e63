import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { countByStatus } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  dayAhead,
  eventsOf,
  openHotelOf,
  RESERVATIONS,
  sellable,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { startService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';

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
  it('201, 409: if two nodes get 500 concurrent bookings for the same 10 rooms, exactly 10 bookings get 201, and 490 get 409', async (t) => {
    const other = await startService({ beside: service, config: { rateLimitPerMinute: 1_000_000 } });
    t.after(() => other.close());
    const nodes = [service, other];
    const hotel = await openHotelOf(service, 10);
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) => persist(() => book(nodes[index % 2] ?? service, hotel))),
    );
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
});
