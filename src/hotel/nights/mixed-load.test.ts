import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import {
  assertNightCounters,
  book,
  dayAhead,
  eventsOf,
  setStayStatus,
  openChannel,
  openSmallHotel,
  reservationPath,
  sellable,
  STAFF_RESERVATIONS,
  type TestHotel,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { createDatabase } from '#platform/db/database.ts';

const ROOM_TYPES = { Double: 3, Suite: 1, Bunk: 6 };
const WORKERS = 12;
const SEED = Date.now() % 1_000_000;

let service: TestService;
const warnings: string[] = [];
before(async () => {
  const onLog = (line: string) => JSON.parse(line).level > 30 && warnings.push(line);
  service = await startService({ config: { rateLimitPerMinute: 1_000_000 }, onLog });
});
after(() => service.close());

const roomType = fc.constantFrom(...Object.keys(ROOM_TYPES));
const dates = fc.record({ from: fc.integer({ min: 0, max: 12 }), nights: fc.integer({ min: 1, max: 9 }) });
/**
 * Number from 0 to 1 that selects one of the existing reservations for a call, for example for a cancellation. 0 selects the first
 * reservation that the test has made so far, and a number near 1 selects the last one.
 */
const position = fc.double({ min: 0, max: 0.999, noNaN: true });

const byPartner = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('book' as const), roomType, dates }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), position }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('book again' as const), position, roomType, dates }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      position,
      status: fc.constantFrom('completed', 'no_show', 'cancelled', 'expired', 'confirmed'),
    }),
  },
);
const byOta = fc.record({
  kind: fc.constant('tell' as const),
  // There are only 12 external ids. So most calls change an existing reservation, and concurrent calls often change the same reservation.
  id: fc.integer({ min: 1, max: 12 }),
  roomType,
  dates,
  status: fc.constantFrom('pending', 'confirmed', 'confirmed', 'completed', 'cancelled', 'no_show', 'expired'),
});
type Step = typeof byPartner | typeof byOta extends fc.Arbitrary<infer T> ? T : never;

function datesOf({ from, nights }: { from: number; nights: number }) {
  return { check_in: dayAhead(30 + from), check_out: dayAhead(30 + from + nights) };
}

/** Performs the steps, at most 12 at the same time. Returns all responses. */
async function perform(hotel: TestHotel, steps: Step[]): Promise<Answer[]> {
  const sendReservation = await openChannel(service, hotel);
  const made: { id: string; externalId: string }[] = [];
  const answers: Answer[] = [];
  const queue = [...steps];

  const take = async (step: Step): Promise<Answer | undefined> => {
    const selected = 'position' in step ? made[Math.floor(step.position * made.length)] : undefined;
    switch (step.kind) {
      case 'book':
        return await book(service, hotel, { room_type_id: hotel.roomTypes[step.roomType], ...datesOf(step.dates) });
      case 'book again': {
        const room_type_id = hotel.roomTypes[step.roomType];
        const external_reservation_id = selected?.externalId ?? 'first';
        return await book(service, hotel, { external_reservation_id, room_type_id, ...datesOf(step.dates) });
      }
      case 'cancel': {
        const path = reservationPath(selected?.externalId ?? 'none', 'cancel/');
        return await service.call('POST', path, { headers: hotel.partner });
      }
      case 'move':
        return selected && (await setStayStatus(service, hotel, selected.id, step.status));
      case 'tell': {
        const room_type_id = hotel.roomTypes[step.roomType];
        return await sendReservation({
          external_id: `ota ${step.id}`,
          status: step.status,
          room_type_id,
          ...datesOf(step.dates),
        });
      }
    }
  };
  const work = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
      const answer = await take(step);
      if (answer !== undefined) {
        answers.push(answer);
      }
      if (answer?.status === 201) {
        const { reservation_id, id, external_reservation_id, external_id } = answer.body;
        made.push({ id: reservation_id ?? id, externalId: external_reservation_id ?? external_id });
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return answers;
}

const openMixedHotel = () =>
  openSmallHotel(
    service,
    Object.entries(ROOM_TYPES).map(([name, physical_capacity]) => ({ name, max_occupancy: 2, physical_capacity })),
  );

/** Asserts that all responses have an expected status, that the log has no warning, and that all night counters are correct. */
async function assertConsistent(hotel: TestHotel, answers: Answer[]): Promise<void> {
  const unexpected = answers.filter(({ status }) => ![200, 201, 404, 409].includes(status));
  assert.deepEqual(
    unexpected.map(({ status, text }) => `${status} ${text}`),
    [],
  );
  assert.deepEqual(warnings, []);
  await assertNightCounters(service, hotel.tenantId);
}

/**
 * Returns the number of deadlocks since the database was created. PostgreSQL may count a connection's deadlocks only when the connection
 * ends, so the function ends all other connections first.
 */
async function countDeadlocks(url: string): Promise<number> {
  const db = createDatabase({ url, poolSize: 1 });
  await sql`
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  `.execute(db);
  const { rows } = await sql<{ deadlocks: number }>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()
  `.execute(db);
  await db.destroy();
  return rows[0]?.deadlocks ?? -1;
}

/**
 * Asserts that each reservation of a partner has exactly one `reservation.created` event, an event with its present status, and no two
 * events with the same status. Also asserts that a reservation of an online travel agency (OTA) has no event.
 */
async function assertEventsAgree(hotel: TestHotel): Promise<void> {
  const rows = (await service.call('GET', STAFF_RESERVATIONS, { headers: hotel.staff })).body;
  const events = await eventsOf(service, hotel.tenantId);
  for (const row of rows.filter((each: { external_source: string | null }) => each.external_source === null)) {
    const rowEvents = events.filter(({ sent }) => sent.data.reservation_id === row.reservation_id);
    const statuses = rowEvents.map(({ sent }) => sent.data.status);
    assert.equal(rowEvents.filter(({ type }) => type === 'reservation.created').length, 1);
    assert.equal(new Set(statuses).size, statuses.length, 'no two events of a reservation have the same status');
    assert.ok(
      statuses.includes(row.status),
      `an event has the status ${row.status}; the events have ${statuses.join()}`,
    );
    assert.equal(statuses.includes('cancelled'), row.status === 'cancelled');
  }
  const ofPartner = rows.filter((each: { external_source: string | null }) => each.external_source === null);
  const about = new Set(events.map(({ sent }) => sent.data.reservation_id));
  assert.equal(about.size, ofPartner.length, 'only stored reservations of partners have events');
}

describe(`night counters under 12 concurrent callers, seed ${SEED}`, () => {
  it('250 random calls of partners and staff never make the sellable rooms of a night negative', {
    timeout: 180_000,
  }, async () => {
    const hotel = await openMixedHotel();
    let isOver = false;
    const minima = Object.keys(ROOM_TYPES).map(async (name) => {
      let lowest = Number.POSITIVE_INFINITY;
      while (!isOver) {
        const days = await sellable(service, hotel, hotel.roomTypes[name], dayAhead(30), dayAhead(60));
        lowest = Math.min(lowest, ...days);
        await sleep(20);
      }
      return lowest;
    });
    const answers = await perform(hotel, fc.sample(byPartner, { seed: SEED, numRuns: 250 })).finally(() => {
      isOver = true; // If the loops above did not end after a failure, the process of this test would not end either.
    });
    assert.ok(Math.min(...(await Promise.all(minima))) >= 0);
    assert.ok(
      answers.some(({ body }) => body.code === 'room_not_available'),
      'the load was high enough that some bookings were refused',
    );
    await assertEventsAgree(hotel);
    await assertConsistent(hotel, answers);
  });

  it("after random calls of partners, staff and OTAs, the night counters are correct, and each partner's reservation has one booking event and an event with its present status", {
    timeout: 180_000,
  }, async () => {
    const hotel = await openMixedHotel();
    const steps = fc.sample(fc.oneof(byPartner, byOta), { seed: SEED, numRuns: 400 });
    const answers = await perform(hotel, steps);
    await assertEventsAgree(hotel);
    await assertConsistent(hotel, answers);
  });

  it('concurrent OTA calls that move stays between two room types in both directions leave correct night counters', {
    timeout: 180_000,
  }, async () => {
    const hotel = await openMixedHotel();
    const sendReservation = await openChannel(service, hotel);
    const long = { check_in: dayAhead(30), check_out: dayAhead(90) };
    for (let round = 0; round < 10; round += 1) {
      const names = round % 2 === 0 ? ['Double', 'Suite'] : ['Suite', 'Double'];
      const moves = Array.from({ length: 8 }, (_, index) =>
        sendReservation({
          external_id: `moved ${index}`,
          room_type_id: hotel.roomTypes[names[index % 2] ?? ''],
          ...long,
        }),
      );
      const answers = await Promise.all(moves);
      assert.ok(answers.every(({ status }) => status === (round === 0 ? 201 : 200)));
    }
    await assertConsistent(hotel, []);
  });

  it('the concurrent calls of all tests in this file caused no deadlock', async () => {
    assert.equal(await countDeadlocks(service.database.url), 0);
  });
});
