import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import {
  assertCounted,
  book,
  dayAhead,
  eventsOf,
  moveStay,
  openChannel,
  openHouse,
  reservationPath,
  sellable,
  STAFF_RESERVATIONS,
  type TestHotel,
} from '#test/support/hotel.ts';
import { type Answer, startService, type TestService } from '#test/support/service.ts';
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
/** Which of the reservations made so far is meant, by its place among them from 0 to 1. */
const which = fc.double({ min: 0, max: 0.999, noNaN: true });

const byPartner = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('book' as const), roomType, dates }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('book again' as const), which, roomType, dates }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      which,
      status: fc.constantFrom('completed', 'no_show', 'cancelled', 'expired', 'confirmed'),
    }),
  },
);
const byOta = fc.record({
  kind: fc.constant('tell' as const),
  // Few ids, so that most calls change a reservation, and several at once the same.
  id: fc.integer({ min: 1, max: 12 }),
  roomType,
  dates,
  status: fc.constantFrom('pending', 'confirmed', 'confirmed', 'completed', 'cancelled', 'no_show', 'expired'),
});
type Step = typeof byPartner | typeof byOta extends fc.Arbitrary<infer T> ? T : never;

function datesOf({ from, nights }: { from: number; nights: number }) {
  return { check_in: dayAhead(30 + from), check_out: dayAhead(30 + from + nights) };
}

/** Does the steps, a dozen at a time; gives every answer. */
async function perform(house: TestHotel, steps: Step[]): Promise<Answer[]> {
  const tell = await openChannel(service, house);
  const made: { id: string; externalId: string }[] = [];
  const answers: Answer[] = [];
  const queue = [...steps];

  const take = async (step: Step): Promise<Answer | undefined> => {
    const meant = 'which' in step ? made[Math.floor(step.which * made.length)] : undefined;
    switch (step.kind) {
      case 'book':
        return await book(service, house, { room_type_id: house.roomTypes[step.roomType], ...datesOf(step.dates) });
      case 'book again': {
        const room_type_id = house.roomTypes[step.roomType];
        const external_reservation_id = meant?.externalId ?? 'first';
        return await book(service, house, { external_reservation_id, room_type_id, ...datesOf(step.dates) });
      }
      case 'cancel': {
        const path = reservationPath(meant?.externalId ?? 'none', 'cancel/');
        return await service.call('POST', path, { headers: house.partner });
      }
      case 'move':
        return meant && (await moveStay(service, house, meant.id, step.status));
      case 'tell': {
        const room_type_id = house.roomTypes[step.roomType];
        return await tell({ external_id: `ota ${step.id}`, status: step.status, room_type_id, ...datesOf(step.dates) });
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

const openMixedHouse = () =>
  openHouse(
    service,
    Object.entries(ROOM_TYPES).map(([name, physical_capacity]) => ({ name, max_occupancy: 2, physical_capacity })),
  );

async function assertSound(house: TestHotel, answers: Answer[]): Promise<void> {
  const unexpected = answers.filter(({ status }) => ![200, 201, 404, 409].includes(status));
  assert.deepEqual(
    unexpected.map(({ status, text }) => `${status} ${text}`),
    [],
  );
  assert.deepEqual(warnings, []);
  await assertCounted(service, house.tenantId);
}

/** Deadlocks there ever were in the database; a connection reports its own at the latest when it ends. */
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

/** Every status a reservation had, told in its events: from created to the one it stands in. */
async function assertEventsAgree(house: TestHotel): Promise<void> {
  const rows = (await service.call('GET', STAFF_RESERVATIONS, { headers: house.staff })).body;
  const events = await eventsOf(service, house.tenantId);
  for (const row of rows.filter((each: { external_source: string | null }) => each.external_source === null)) {
    const told = events.filter(({ sent }) => sent.data.reservation_id === row.reservation_id);
    const statuses = told.map(({ sent }) => sent.data.status);
    assert.equal(told.filter(({ type }) => type === 'reservation.created').length, 1);
    assert.equal(new Set(statuses).size, statuses.length, 'no status twice');
    assert.ok(statuses.includes(row.status), `${row.status} is among ${statuses.join()}`);
    assert.equal(statuses.includes('cancelled'), row.status === 'cancelled');
  }
  const ofPartner = rows.filter((each: { external_source: string | null }) => each.external_source === null);
  const about = new Set(events.map(({ sent }) => sent.data.reservation_id));
  assert.equal(about.size, ofPartner.length, 'none of an OTA, none of what was refused');
}

describe(`a dozen callers at once, seed ${SEED}`, () => {
  it('partners and staff: no night is sold beyond capacity at any moment', { timeout: 60_000 }, async () => {
    const house = await openMixedHouse();
    let isOver = false;
    const least = Object.keys(ROOM_TYPES).map(async (name) => {
      let lowest = Number.POSITIVE_INFINITY;
      while (!isOver) {
        const days = await sellable(service, house, house.roomTypes[name], dayAhead(30), dayAhead(60));
        lowest = Math.min(lowest, ...days);
        await sleep(20);
      }
      return lowest;
    });
    const answers = await perform(house, fc.sample(byPartner, { seed: SEED, numRuns: 250 }));
    isOver = true;
    assert.ok(Math.min(...(await Promise.all(least))) >= 0);
    assert.ok(
      answers.some(({ body }) => body.code === 'room_not_available'),
      'the house was full',
    );
    await assertEventsAgree(house);
    await assertSound(house, answers);
  });

  it('and OTAs that change and move theirs: every counter right, every event written', {
    timeout: 60_000,
  }, async () => {
    const house = await openMixedHouse();
    const steps = fc.sample(fc.oneof(byPartner, byOta), { seed: SEED, numRuns: 400 });
    const answers = await perform(house, steps);
    await assertEventsAgree(house);
    await assertSound(house, answers);
  });

  it('OTAs that move stays from one room type to the other, both ways at once', { timeout: 60_000 }, async () => {
    const house = await openMixedHouse();
    const tell = await openChannel(service, house);
    const long = { check_in: dayAhead(30), check_out: dayAhead(90) };
    for (let round = 0; round < 10; round += 1) {
      const names = round % 2 === 0 ? ['Double', 'Suite'] : ['Suite', 'Double'];
      const moves = Array.from({ length: 8 }, (_, index) =>
        tell({ external_id: `moved ${index}`, room_type_id: house.roomTypes[names[index % 2] ?? ''], ...long }),
      );
      const answers = await Promise.all(moves);
      assert.ok(answers.every(({ status }) => status === (round === 0 ? 201 : 200)));
    }
    await assertSound(house, []);
  });

  it('no deadlock, in all that was done before', async () => {
    assert.equal(await countDeadlocks(service.database.url), 0);
  });
});
