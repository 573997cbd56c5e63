import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { makeChannel, nowSeconds, sendReservation, type TestChannel } from '#test/support/channel.ts';
import { assertNightCounters, dayAfter, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { countDeadlocks } from '#test/support/statements.ts';

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
async function countAllDeadlocks(): Promise<number> {
  const { db } = service.database;
  return await db.connection().execute(async (connection) => {
    await sql`
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
    `.execute(connection);
    return await countDeadlocks(connection);
  });
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
    const deadlocksBefore = await countAllDeadlocks();
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
    assert.equal(await countAllDeadlocks(), deadlocksBefore);
    await assertNightCounters(service, hotel.tenantId);
  });
});
