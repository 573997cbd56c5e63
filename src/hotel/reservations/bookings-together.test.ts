import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertCounted, dayAhead, eventsOf, openHouse, stay, type TestHotel } from '#test/support/hotel.ts';
import { startCommitLoser } from '#test/support/lost-commit.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { countWaiting, openRecorded, type RecordedDatabase } from '#test/support/statements.ts';
import { eventually } from '#test/support/webhooks.ts';
import { NO_CACHES } from '#platform/changes/changes.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { createNightReader, holdNightsOf, moveHold } from '../nights/nights.ts';
import { createRateReader } from '../rates/rates.ts';
import { createRoomTypeFinder, type FindRoomType } from '../rooms/rooms.ts';
import { createTransactionWithEvents } from '#webhooks/events/events.ts';
import { Reservations } from './reservations.ts';

const HOUSES = 3;
const CAPACITY = 4;

let service: TestService;
let houses: TestHotel[];
let db: Database;
let statementsOf: RecordedDatabase['statementsOf'];
let reservations: Reservations;
/** Of room types that are at hand once they have been looked up. */
let findRoomType: FindRoomType;

before(async () => {
  service = await startService();
  ({ db, statementsOf } = openRecorded(service.database.url, 6));
  houses = await Promise.all(Array.from({ length: HOUSES }, (_, number) => houseAt(`${number + 1}0.00`)));
  const find = createRoomTypeFinder({ db: service.database.db, caches: NO_CACHES });
  const found = new Map<string, ReturnType<FindRoomType>>();
  findRoomType = (tenantId, id) => found.get(id) ?? found.set(id, find(tenantId, id)).get(id) ?? find(tenantId, id);
  await Promise.all(
    houses.flatMap(({ tenantId, roomTypes }) => Object.values(roomTypes).map((id) => findRoomType(tenantId, id))),
  );
  reservations = reservationsOn(db);
});
after(async () => {
  await db.destroy();
  await service.close();
});

/** Whatever a test books in it, it leaves the other houses of the file alone. */
const houseAt = (price: string, names = ['Double', 'Suite']) =>
  openHouse(
    service,
    names.map((name) => ({
      name,
      max_occupancy: 2,
      physical_capacity: CAPACITY,
      rate_plans: [{ name: 'Flexible', base_price: price }],
    })),
  );

/** Prices are looked up past the database under test, so that bookings made at once are written at once. */
function reservationsOn(database: Database): Reservations {
  const direct = service.database.db;
  return new Reservations({
    db: database,
    transactionWithEvents: createTransactionWithEvents(database, null),
    findRoomType,
    rates: createRateReader(direct),
    readHeldNights: createNightReader(direct),
  });
}

function callerOf({ tenantId, credential }: TestHotel): Caller {
  return { tenantId, credentialId: credential.id, features: ['hotel'], currency: 'EUR' };
}

function houseNumber(index: number): TestHotel {
  const house = houses[index % houses.length];
  assert.ok(house);
  return house;
}

type Changes = Record<string, unknown>;

/** Two nights in a Double thirty days ahead, changed as the caller likes. */
const book = (house: TestHotel, changes: Changes = {}, at = reservations) =>
  at.book(callerOf(house), stay(house, changes) as Parameters<Reservations['book']>[1]);

/** Of each booking `booked`, `replayed`, or the code it was refused with. */
async function outcomesOf(bookings: ReturnType<typeof book>[]): Promise<string[]> {
  return (await Promise.allSettled(bookings)).map((ended) => {
    if (ended.status === 'rejected') {
      return String(ended.reason.code ?? ended.reason);
    }
    return ended.value.isReplayed ? 'replayed' : 'booked';
  });
}

describe('bookings made at once', () => {
  it('of several houses go as one transaction; each has its own price, nights and event', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `"${index}" \\ é🍕 of ${index % HOUSES}`);
    const sent = await statementsOf(async () => {
      const made = await Promise.all(
        names.map((name, index) => book(houseNumber(index), { external_reservation_id: name })),
      );
      for (const [index, { reservation, isReplayed }] of made.entries()) {
        const house = houseNumber(index);
        assert.deepEqual(
          [reservation.external_reservation_id, reservation.total_amount, isReplayed],
          [names[index], `${((index % HOUSES) + 1) * 20}.00`, false],
        );
        const stored = await reservationsOn(service.database.db).find(callerOf(house), names[index] ?? '');
        assert.deepEqual(stored, reservation);
        const events = await eventsOf(service, house.tenantId);
        assert.equal(events.filter(({ body }) => body.includes(reservation.reservation_id)).length, 1);
      }
    });
    assert.equal(sent.filter((text) => /insert/i.test(text)).length, 3);
    await Promise.all(houses.map(({ tenantId }) => assertCounted(service, tenantId)));
  });

  it('under one external id make one; the others are told of it, and their neighbours are booked', async () => {
    const house = await houseAt('10.00');
    const ids = ['twice', 'other', 'twice', 'twice'];
    const outcomes = await outcomesOf(ids.map((id) => book(house, { external_reservation_id: id })));
    assert.deepEqual(outcomes, ['booked', 'booked', 'replayed', 'replayed']);
    await assertCounted(service, house.tenantId);
  });

  it('for as many rooms as there are all have one; for one more than there are, all but one', async () => {
    for (const [count, booked] of [
      [CAPACITY, CAPACITY],
      [CAPACITY + 1, CAPACITY],
    ] as const) {
      const house = await houseAt('10.00');
      const outcomes = await outcomesOf(Array.from({ length: count }, () => book(house)));
      assert.equal(outcomes.filter((outcome) => outcome === 'booked').length, booked);
      assert.equal(outcomes.filter((outcome) => outcome === 'room_not_available').length, count - booked);
      await assertCounted(service, house.tenantId);
    }
  });

  it('for a night that has filled up: those who want it are refused, the others booked, and nothing is left behind', async () => {
    const house = await houseAt('10.00');
    const last = { check_in: dayAhead(31), check_out: dayAhead(32) };
    await outcomesOf(Array.from({ length: CAPACITY - 1 }, () => book(house, last)));
    const wishes = [{}, {}, { check_out: dayAhead(31) }, { room_type_id: house.roomTypes['Suite'] }];
    const bookings = wishes.map((wish) => book(house, wish));
    const outcomes = await outcomesOf([...bookings, book(houseNumber(0), { check_in: dayAhead(29) })]);
    assert.deepEqual(outcomes.slice(2), ['booked', 'booked', 'booked']);
    assert.deepEqual(outcomes.slice(0, 2).sort(), ['booked', 'room_not_available']);
    assert.equal((await eventsOf(service, house.tenantId)).length, CAPACITY + 2, 'an event for each that is booked');
    await assertCounted(service, house.tenantId);
  });

  it('suffer from none among them that the database refuses', async () => {
    const house = await houseAt('10.00');
    const wishes = [{}, { guest: { name: '\u0000', phone: '1' } }, {}];
    const [first, bad, third] = await Promise.allSettled(wishes.map((wish) => book(house, wish)));
    assert.deepEqual([first?.status, bad?.status, third?.status], ['fulfilled', 'rejected', 'fulfilled']);
    await assertCounted(service, house.tenantId);
  });

  it('wait for none that is long: it goes alone', async () => {
    const house = await houseAt('10.00');
    const wishes = [{ check_out: dayAhead(62) }, {}, {}];
    const sent = await statementsOf(() => Promise.all(wishes.map((wish) => book(house, wish))));
    assert.equal(sent.filter((text) => /insert into .?reservation/i.test(text)).length, 2);
    await assertCounted(service, house.tenantId);
  });

  it('wait no longer than a moment for a night that somebody holds, nor do those that come after them', async () => {
    const house = await houseAt('10.00');
    const held = { roomTypeId: house.roomTypes['Double'] ?? '', checkIn: dayAhead(30), checkOut: dayAhead(31) };
    let waiting: Promise<string[]> = Promise.resolve([]);
    await inTransaction(service.database.db, async (tx) => {
      await moveHold(tx, house.tenantId, null, held);
      const bookings = [];
      while (bookings.length < 2) {
        bookings.push(book(house)); // Alone, each of them.
        await eventually(
          async () => (await countWaiting(service.database.db)) === bookings.length,
          'wait for the night',
        );
      }
      waiting = outcomesOf(bookings);
      const began = performance.now();
      for (let turn = 0; turn < 3; turn += 1) {
        const others = [book(house, { room_type_id: house.roomTypes['Suite'] }), book(houseNumber(turn), free(turn))];
        assert.deepEqual(await outcomesOf(others), ['booked', 'booked']);
      }
      assert.ok(performance.now() - began < 5_000, `${Math.round(performance.now() - began)} ms`);
      await moveHold(tx, house.tenantId, held, null);
    });
    assert.deepEqual(await waiting, ['booked', 'booked']);
    await assertCounted(service, house.tenantId);
  });

  it('are each new to their callers where the answer to the COMMIT is lost', async () => {
    const house = await houseAt('10.00');
    const loser = await startCommitLoser(service.database.url);
    try {
      const booking = reservationsOn(loser.db);
      await book(house, {}, booking);
      loser.loseNext();
      const outcomes = await outcomesOf([book(house, {}, booking), book(house, {}, booking)]);
      assert.deepEqual([loser.lostCount, ...outcomes], [1, 'booked', 'booked']);
    } finally {
      await loser.close();
    }
    assert.equal((await eventsOf(service, house.tenantId)).length, 3);
    await assertCounted(service, house.tenantId);
  });

  it('do not deadlock with the same nights the other way round on another node', async () => {
    const house = await houseAt('10.00');
    const { db: direct } = service.database;
    const nights = [30, 31, 32].map((day) => ({
      roomTypeId: house.roomTypes['Double'] ?? '',
      checkIn: dayAhead(day),
      checkOut: dayAhead(day + 1),
    }));
    const stays = nights.map((hold) => ({ tenantId: house.tenantId, hold, capacity: CAPACITY }));
    let both: Promise<number[]> = Promise.resolve([]);
    await inTransaction(direct, async (tx) => {
      await moveHold(tx, house.tenantId, null, nights[1] ?? null);
      const orders = [stays, stays.toReversed()];
      both = Promise.all(
        orders.map(async (order) => (await inTransaction(db, (own) => holdNightsOf(own, order))).size),
      );
      await Promise.race([
        both,
        eventually(async () => (await countWaiting(service.database.db)) === 2, 'wait for the one in the middle'),
      ]);
    });
    assert.deepEqual(await both, [0, 0]);
  });
});

/** Two nights that no other turn takes. */
function free(turn: number): Changes {
  return { check_in: dayAhead(100 + 2 * turn), check_out: dayAhead(102 + 2 * turn) };
}
