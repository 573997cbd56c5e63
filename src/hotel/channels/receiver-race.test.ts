import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { makeChannel, nowSeconds, sendReservation, type TestChannel } from '#test/support/channel.ts';
import {
  assertNightCounters,
  book,
  dayAfter,
  dayAhead,
  setStayStatus,
  openHotel,
  type TestHotel,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';

let service: TestService;
let hotel: TestHotel;
let channel: TestChannel;
before(async () => {
  service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  hotel = await openHotel(service);
  channel = await makeChannel(service, hotel);
});
after(() => service.close());

/**
 * Returns the number of deadlocks in the database so far. PostgreSQL may count the deadlocks of a connection only when the connection ends,
 * so the function ends all other connections first.
 */
async function countDeadlocks(): Promise<number> {
  const { db } = service.database;
  return await db.connection().execute(async (connection) => {
    await sql`
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
    `.execute(connection);
    const { rows } = await sql<{ deadlocks: number }>`
      SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()
    `.execute(connection);
    return rows[0]?.deadlocks ?? Number.NaN;
  });
}

/** Returns a generator of pseudo-random integers from 0 to `limit` - 1, which are the same in every run (mulberry32). */
function pseudoRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Makes the calls, with at most `concurrency` calls under way. Returns the responses in the order in which they arrive. */
async function callConcurrently(calls: (() => Promise<Answer>)[], concurrency: number): Promise<Answer[]> {
  const waiting = calls.values();
  const answers: Answer[] = [];
  const runner = async () => {
    for (const call of waiting) {
      answers.push(await call());
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  return answers;
}

/** Reads the OTA reservations of the hotel from the database, grouped by external id. */
async function storedStays() {
  const rows = await service.database.db
    .selectFrom('reservation')
    .select(['id', 'external_id', 'room_type_id', 'check_in', 'check_out'])
    .where('tenant_id', '=', hotel.tenantId)
    .where('external_source', '=', channel.source)
    .execute();
  return Map.groupBy(rows, (row) => String(row.external_id));
}

const ota = (external_id: string, stay: object) => ({
  external_id,
  status: 'confirmed',
  guest: { full_name: 'Ada' },
  ...stay,
});

describe('concurrent calls to the receiver of OTA reservations', () => {
  it('if 20 calls for one new reservation arrive together, one gets 201, 19 get 200, and the call with the latest timestamp is stored', async () => {
    for (const external_id of ['first 1', 'first 2', 'first 3', 'first 4', 'first 5']) {
      const now = nowSeconds();
      const calls = Array.from({ length: 20 }, (_, index) => async () => {
        const order = (index * 7) % 20;
        const check_in = dayAhead(20 + order);
        const stay = { room_type_id: hotel.roomTypes['Double'], check_in, check_out: dayAfter(check_in, 3) };
        return await sendReservation(service, channel, ota(external_id, stay), now + order);
      });
      const answers = await callConcurrently(calls, 20);
      const counts = [200, 201].map((expected) => answers.filter(({ status }) => status === expected).length);
      assert.deepEqual(counts, [19, 1]);
      const rows = (await storedStays()).get(external_id) ?? [];
      assert.deepEqual(
        rows.map((row) => row.check_in),
        [dayAhead(39)],
      );
      assert.ok(answers.every(({ body }) => body.id === rows[0]?.id));
      await assertNightCounters(service, hotel.tenantId);
    }
  });

  it('if 20 identical calls for a new reservation arrive together, one gets 201, and all get the same body', async () => {
    const stay = { room_type_id: hotel.roomTypes['Suite'], check_in: dayAhead(400), check_out: dayAhead(401) };
    const at = nowSeconds();
    const call = async () => await sendReservation(service, channel, ota('same', stay), at);
    const answers = await callConcurrently(
      Array.from({ length: 20 }, () => call),
      20,
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('200: concurrent calls that move long stays between two room types cause no deadlock', async () => {
    const roomTypes = [hotel.roomTypes['Double'], hotel.roomTypes['Bunk']];
    const dates = { check_in: dayAhead(1_000), check_out: dayAhead(1_300) };
    const deadlocksBefore = await countDeadlocks();
    const now = nowSeconds();
    const stays = Array.from({ length: 8 }, (_, stay) => async () => {
      const answers: Answer[] = [];
      for (let move = 0; move < 7; move += 1) {
        const room_type_id = roomTypes[(stay + move) % 2];
        answers.push(
          await sendReservation(service, channel, ota(`place ${stay}`, { room_type_id, ...dates }), now + move),
        );
      }
      return answers;
    });
    const answers = (await Promise.all(stays.map((stay) => stay()))).flat();
    assert.equal(answers.filter(({ status }) => status === 200).length, 48);
    assert.equal(await countDeadlocks(), deadlocksBefore);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('450 concurrent calls of OTAs, partners and staff leave correct night counters and cause no deadlock', async () => {
    const random = pseudoRandom(20_261_121);
    const pick = <T>(all: readonly T[]): T => all[random(all.length)] as T;
    const roomTypes = ['Double', 'Suite', 'Bunk', 'Lagoon Lodge/Double'].map((name) => String(hotel.roomTypes[name]));
    const anyStay = () => {
      const check_in = dayAhead(500 + random(12));
      return { room_type_id: pick(roomTypes), check_in, check_out: dayAfter(check_in, 1 + random(20)) };
    };
    const ids: string[] = [];
    const now = nowSeconds();
    const changes = Array.from({ length: 250 }, (_, index) => ({
      at: now - 125 + ((index * 7) % 250),
      external_id: `race ${random(12)}`,
      stay: anyStay(),
      status: pick(['confirmed', 'cancelled', 'no_show']),
    }));
    const calls = [
      ...changes.map(({ at, external_id, stay, status }) => async () => {
        const answer = await sendReservation(service, channel, { ...ota(external_id, stay), status }, at);
        ids.push(answer.body.id);
        return answer;
      }),
      ...Array.from({ length: 100 }, anyStay).map((stay) => async () => {
        const answer = await book(service, hotel, stay);
        ids.push(...(answer.status === 201 ? [answer.body.reservation_id] : []));
        return answer;
      }),
      ...Array.from({ length: 100 }, () => async () => {
        return await setStayStatus(
          service,
          hotel,
          pick(ids) ?? 'none yet',
          pick(['cancelled', 'completed', 'no_show']),
        );
      }),
    ];
    const positions = calls.map(() => random(1_000_000));
    const shuffled = calls.map((call, index) => ({ call, position: positions[index] ?? 0 }));
    const deadlocksBefore = await countDeadlocks();

    const answers = await callConcurrently(
      shuffled.toSorted((a, b) => a.position - b.position).map(({ call }) => call),
      24,
    );

    const unexpected = answers.filter(({ status }) => ![200, 201, 404, 409].includes(status));
    assert.deepEqual(
      unexpected.map(({ text }) => text),
      [],
    );
    assert.equal(await countDeadlocks(), deadlocksBefore);
    await assertNightCounters(service, hotel.tenantId);
    const stays = await storedStays();
    for (const [external_id, sent] of Map.groupBy(changes, (change) => change.external_id)) {
      const rows = (stays.get(external_id) ?? []).map(({ room_type_id, check_in, check_out }) => ({
        room_type_id,
        check_in,
        check_out,
      }));
      assert.deepEqual(rows, [sent.toSorted((a, b) => b.at - a.at)[0]?.stay], external_id);
    }
  });
});
