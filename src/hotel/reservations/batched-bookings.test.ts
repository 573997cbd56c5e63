import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertNightCounters, dayAhead, eventsOf, openSmallHotel, stay, type TestHotel } from '#test/support/hotel.ts';
import { startCommitProxy } from '#test/support/lost-commit.ts';
import { useService } from '#test/support/shared-service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
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
import { findOfCaller, partnerBooking, partnerShape, Reservations } from './reservations.ts';
import type { ReservationCreate } from './schema.ts';

const HOTELS = 3;
const CAPACITY = 4;

const service = await useService();
let hotels: TestHotel[];
let db: Database;
let statementsOf: RecordedDatabase['statementsOf'];
let reservations: Reservations;
let findRoomType: FindRoomType;

before(async () => {
  ({ db, statementsOf } = openRecorded(service.database.url, 6));
  hotels = await Promise.all(Array.from({ length: HOTELS }, (_, number) => openHotelAt(`${number + 1}0.00`)));
  const find = createRoomTypeFinder({ db: service.database.db, caches: NO_CACHES });
  const found = new Map<string, ReturnType<FindRoomType>>();
  findRoomType = (tenantId, id) => found.get(id) ?? found.set(id, find(tenantId, id)).get(id) ?? find(tenantId, id);
  await Promise.all(
    hotels.flatMap(({ tenantId, roomTypes }) => Object.values(roomTypes).map((id) => findRoomType(tenantId, id))),
  );
  reservations = reservationsOn(db);
});
after(async () => {
  await db.destroy();
});

/** Creates a hotel whose rate plans have the given price. A test that needs nights without reservations creates its own hotel. */
function openHotelAt(price: string, names = ['Double', 'Suite']): Promise<TestHotel> {
  return openSmallHotel(
    service,
    names.map((name) => ({
      name,
      max_occupancy: 2,
      physical_capacity: CAPACITY,
      rate_plans: [{ name: 'Flexible', base_price: price }],
    })),
  );
}

/**
 * Creates `Reservations` that write to the given database, but read prices and night counters through another connection pool. A booking
 * joins a batch only after these reads. With one pool, the reads of some bookings would wait for a free connection. These bookings would
 * then be too late to join the batch of the other bookings.
 */
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

function hotelNumber(index: number): TestHotel {
  const hotel = hotels[index % hotels.length];
  assert.ok(hotel);
  return hotel;
}

type Changes = Record<string, unknown>;

/** Books two nights in the room type Double, with check-in in thirty days. The fields in `changes` replace these defaults. */
const book = (hotel: TestHotel, changes: Changes = {}, at = reservations) =>
  at.book(...partnerBooking(callerOf(hotel), stay(hotel, changes) as ReservationCreate));

/** Returns for each booking `booked`, `replayed` (an earlier call booked the stay), or the error code of its refusal. */
async function outcomesOf(bookings: ReturnType<typeof book>[]): Promise<string[]> {
  return (await Promise.allSettled(bookings)).map((ended) => {
    if (ended.status === 'rejected') {
      return String(ended.reason.code ?? ended.reason);
    }
    return ended.value.isReplayed ? 'replayed' : 'booked';
  });
}

describe('concurrent bookings that share a transaction', {
  skip: (await isTestCluster()) && 'bookings of several hotels share no transaction on a cluster',
}, () => {
  it('9 concurrent bookings in 3 hotels take only 3 INSERTs in total, and each gets its own price, nights and event', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `"${index}" \\ é🍕 of ${index % HOTELS}`);
    const sent = await statementsOf(async () => {
      const made = await Promise.all(
        names.map((name, index) => book(hotelNumber(index), { external_reservation_id: name })),
      );
      for (const [index, { row, isReplayed }] of made.entries()) {
        const hotel = hotelNumber(index);
        const reservation = partnerShape(row);
        assert.deepEqual(
          [reservation.external_reservation_id, reservation.total_amount, isReplayed],
          [names[index], `${((index % HOTELS) + 1) * 20}.00`, false],
        );
        const stored = await findOfCaller(service.database.db, callerOf(hotel), names[index] ?? '');
        assert.deepEqual(partnerShape(stored), reservation);
        const events = await eventsOf(service, hotel.tenantId);
        assert.equal(events.filter(({ body }) => body.includes(reservation.reservation_id)).length, 1);
      }
    });
    assert.equal(sent.filter((text) => /insert/i.test(text)).length, 3);
    await Promise.all(hotels.map(({ tenantId }) => assertNightCounters(service, tenantId)));
  });

  it('if 3 of 4 concurrent bookings have the same external id, 2 bookings are new and 2 return an existing reservation', async () => {
    const hotel = await openHotelAt('10.00');
    const ids = ['twice', 'other', 'twice', 'twice'];
    const outcomes = await outcomesOf(ids.map((id) => book(hotel, { external_reservation_id: id })));
    assert.deepEqual(outcomes, ['booked', 'booked', 'replayed', 'replayed']);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('if the database refuses one of 3 concurrent bookings, the other two succeed', async () => {
    const hotel = await openHotelAt('10.00');
    const variants = [{}, { guest: { name: '\u0000', phone: '1' } }, {}];
    const [first, bad, third] = await Promise.allSettled(variants.map((changes) => book(hotel, changes)));
    assert.deepEqual([first?.status, bad?.status, third?.status], ['fulfilled', 'rejected', 'fulfilled']);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('a booking of 32 nights is written by its own INSERT, and two concurrent short bookings share one INSERT', async () => {
    const hotel = await openHotelAt('10.00');
    // The short bookings are for other nights than the long booking. With nights in common, the batch could wait for a lock of the long
    // booking for more than 250 ms. Then the short bookings would be tried again one by one, which takes more INSERTs.
    const short = { check_in: dayAhead(70), check_out: dayAhead(72) };
    const variants = [{ check_out: dayAhead(62) }, short, short];
    const sent = await statementsOf(() => Promise.all(variants.map((changes) => book(hotel, changes))));
    assert.equal(sent.filter((text) => /insert into .?reservation/i.test(text)).length, 2);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('while two bookings wait for a locked night, bookings of other nights succeed within 5 s', async () => {
    const hotel = await openHotelAt('10.00');
    const room_type_id = hotel.roomTypes['Double'] ?? '';
    const held = { tenant_id: hotel.tenantId, room_type_id, check_in: dayAhead(30), check_out: dayAhead(31) };
    let waiting: Promise<string[]> = Promise.resolve([]);
    await inTransaction(service.database.db, async (tx) => {
      await moveHold(tx, null, held);
      const bookings = [];
      while (bookings.length < 2) {
        // The test sends the second booking after the batch of the first booking has begun and waits for the night that `tx` has locked. A
        // batch that has begun takes no more bookings. So each of the two bookings has its own batch.
        bookings.push(book(hotel));
        await eventually(
          async () => (await countWaiting(service.database.db)) === bookings.length,
          'booking that waits for the night',
        );
      }
      waiting = outcomesOf(bookings);
      const began = performance.now();
      for (let round = 0; round < 3; round += 1) {
        const others = [
          book(hotel, { room_type_id: hotel.roomTypes['Suite'] }),
          book(hotelNumber(round), freeDates(round)),
        ];
        assert.deepEqual(await outcomesOf(others), ['booked', 'booked']);
      }
      assert.ok(performance.now() - began < 5_000, `${Math.round(performance.now() - began)} ms`);
      await moveHold(tx, held, null);
    });
    assert.deepEqual(await waiting, ['booked', 'booked']);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('if the response to the COMMIT of a batch is lost, its bookings are written once and reported as new, not as repeated', async () => {
    const hotel = await openHotelAt('10.00');
    const loser = await startCommitProxy(service.database.url);
    try {
      const booking = reservationsOn(loser.db);
      await book(hotel, {}, booking);
      loser.dropNextCommitResponse();
      const outcomes = await outcomesOf([book(hotel, {}, booking), book(hotel, {}, booking)]);
      assert.deepEqual([loser.lostCount, ...outcomes], [1, 'booked', 'booked']);
    } finally {
      await loser.close();
    }
    assert.equal((await eventsOf(service, hotel.tenantId)).length, 3);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('two transactions that are given the same nights in opposite order do not deadlock', async () => {
    const hotel = await openHotelAt('10.00');
    const { db: direct } = service.database;
    const nights = [30, 31, 32].map((day) => ({
      tenant_id: hotel.tenantId,
      room_type_id: hotel.roomTypes['Double'] ?? '',
      check_in: dayAhead(day),
      check_out: dayAhead(day + 1),
    }));
    const stays = nights.map((hold) => ({ hold, capacity: CAPACITY }));
    let both: Promise<number[]> = Promise.resolve([]);
    await inTransaction(direct, async (tx) => {
      await moveHold(tx, null, nights[1] ?? null);
      const orders = [stays, stays.toReversed()];
      both = Promise.all(
        orders.map(async (order) => (await inTransaction(db, (own) => holdNightsOf(own, order))).size),
      );
      await Promise.race([
        both,
        eventually(
          async () => (await countWaiting(service.database.db)) === 2,
          'two transactions that wait for the night in the middle',
        ),
      ]);
    });
    assert.deepEqual(await both, [0, 0]);
  });
});

/** Returns the check-in and check-out dates of a stay of two nights. Two stays with different values of `round` share no night. */
function freeDates(round: number): Changes {
  return { check_in: dayAhead(100 + 2 * round), check_out: dayAhead(102 + 2 * round) };
}
