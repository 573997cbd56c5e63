import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AVAILABILITY,
  book,
  dayAhead,
  openHotel,
  openSmallHotel,
  pmsHeaders,
  RESERVATIONS,
  stay,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { useService } from '#test/support/shared-service.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { createNightReader } from '../nights/nights.ts';
import { createRateReader, type StayRange } from '../rates/rates.ts';

const HOTELS = 3;
const ROOM_TYPES = ['Double', 'Suite', 'Bunk'];

const roomTypes = ROOM_TYPES.map((name) => ({
  name,
  max_occupancy: 2,
  physical_capacity: 100,
  rate_plans: [{ name: 'Flexible', base_price: '100.00' }],
}));

async function openBusyHotel(number: number): Promise<TestHotel> {
  const hotel = await openSmallHotel(service, roomTypes);
  const pms = await pmsHeaders(service, hotel);
  for (const [index, name] of ROOM_TYPES.entries()) {
    const night = { check_in: dayAhead(40 + number), check_out: dayAhead(41 + number) };
    for (let count = 0; count < index + number; count += 1) {
      assert.equal((await book(service, hotel, { room_type_id: hotel.roomTypes[name], ...night })).status, 201);
    }
    const closed = { date: dayAhead(44 + index), price: 10 * number + index, is_sold_out: true };
    await writePlan(service, pms, 'rates', hotel.plans[`${name}/Flexible`], [closed]);
  }
  return hotel;
}

const service = await useService();
/**
 * Three test hotels. They have different bookings and prices, so a test fails if a read returns the data of another hotel or room type.
 * Hotels, room types and nights have numbers from 0. Night 0 begins 40 days from today. These rules apply to room type `r` of hotel `h`:
 * - The room type has `h + r` bookings, and all of them are on night `h`.
 * - The room type is closed on night `r + 4`, and the price of this night differs from the base price.
 */
const hotels = await Promise.all(Array.from({ length: HOTELS }, (_, number) => openBusyHotel(number)));

/** Returns one query for each room type of each hotel: the room type, and a number of nights from one to eight. */
function lookups() {
  return hotels.flatMap((hotel, number) =>
    ROOM_TYPES.map((name, index) => ({
      hotel,
      number,
      index,
      nights: 1 + ((number * ROOM_TYPES.length + index * 5) % 8),
      roomTypeId: hotel.roomTypes[name] ?? '',
    })),
  );
}

const rangeOf = ({ hotel, nights, roomTypeId }: ReturnType<typeof lookups>[number]): StayRange => ({
  tenant_id: hotel.tenantId,
  room_type_id: roomTypeId,
  check_in: dayAhead(40),
  check_out: dayAhead(40 + nights),
});

/** Runs the work twice on the same database: once with the SQL for one database node, and once with the SQL for a cluster. */
async function forEachLayout(work: (db: Database) => Promise<void>): Promise<void> {
  await work(service.database.db);
  const cluster = createDatabase({ url: service.database.url, poolSize: 4, layout: 'cluster' });
  try {
    await work(cluster);
  } finally {
    await cluster.destroy();
  }
}

describe('concurrent reads that share a statement', () => {
  it('if reads of held rooms run at the same time, each read gets the numbers of held rooms of its own tenant, room type and dates', async () => {
    await forEachLayout(async (db) => {
      const readHeldNights = createNightReader(db);
      const all = lookups();
      const answers = await Promise.all(all.map((each) => readHeldNights(rangeOf(each))));
      for (const [position, { number, index, nights }] of all.entries()) {
        const held = Array.from({ length: nights }, (_, night) => (night === number ? index + number : 0));
        assert.deepEqual(
          answers[position],
          held.map((rooms, night) => ({ date: dayAhead(40 + night), held: rooms })),
        );
      }
    });
  });

  it('each concurrent read of rates gets the plan, the price and the closed night of its own room type', async () => {
    await forEachLayout(async (db) => {
      const rates = createRateReader(db);
      const all = lookups();
      const calendars = await Promise.all(all.map((each) => rates.readCalendars(rangeOf(each))));
      const closed = await Promise.all(all.map((each) => rates.readClosedNights(rangeOf(each))));
      for (const [position, { hotel, number, index, nights }] of all.entries()) {
        const date = dayAhead(44 + index);
        const isWithin = nights > 4 + index;
        const night = { date, price: `${10 * number + index}.00`, is_sold_out: true };
        assert.deepEqual(calendars[position], [
          {
            id: hotel.plans[`${ROOM_TYPES[index]}/Flexible`],
            name: 'Flexible',
            base_price: '100.00',
            min_nights: 1,
            is_active: true,
            nights: isWithin ? { [date]: night } : {},
          },
        ]);
        assert.deepEqual([...(closed[position] ?? [])], isWithin ? [date] : []);
      }
    });
  });

  it('a read for a room type of another tenant returns no plan and no held rooms, even if another read runs at the same time', async () => {
    const { db } = service.database;
    const rates = createRateReader(db);
    const readHeldNights = createNightReader(db);
    const [own, other] = [hotels[1], hotels[2]];
    assert.ok(own && other);
    const dates = { check_in: dayAhead(40), check_out: dayAhead(48) };
    const ranges = [
      { tenant_id: own.tenantId, room_type_id: own.roomTypes['Bunk'] ?? '', ...dates },
      { tenant_id: own.tenantId, room_type_id: other.roomTypes['Bunk'] ?? '', ...dates },
    ];
    assert.deepEqual(
      (await Promise.all(ranges.map(rates.readCalendars))).map((plans) => plans.length),
      [1, 0],
    );
    const held = await Promise.all(ranges.map(readHeldNights));
    assert.deepEqual(
      held.map((nights) => nights.reduce((sum, night) => sum + night.held, 0)),
      [3, 0],
    );
  });

  it('if the database refuses one of several concurrent reads, only that read fails', async () => {
    const { db } = service.database;
    const rates = createRateReader(db);
    const readHeldNights = createNightReader(db);
    const ranges = lookups().map(rangeOf);
    ranges.splice(2, 0, { tenant_id: 1, room_type_id: 'no uuid', check_in: dayAhead(1), check_out: dayAhead(2) });
    for (const read of [readHeldNights, rates.readCalendars, rates.readClosedNights]) {
      const outcomes = await Promise.allSettled(ranges.map((range) => read(range)));
      assert.deepEqual(
        outcomes.flatMap(({ status }, position) => (status === 'rejected' ? [position] : [])),
        [2],
      );
    }
  });
});

describe('concurrent calls of several partners', () => {
  it('200: concurrent availability calls get the nights of their own hotel; 201: bookings get the price of their own plan', async () => {
    const all = lookups();
    const answers = await Promise.all(
      all.map(({ hotel, roomTypeId, nights }) =>
        service.call(
          'GET',
          `${AVAILABILITY}?room_type_id=${roomTypeId}&check_in=${dayAhead(40)}&check_out=${dayAhead(40 + nights)}`,
          { headers: hotel.partner },
        ),
      ),
    );
    for (const [position, { number, index, nights, roomTypeId }] of all.entries()) {
      assert.equal(answers[position]?.body.room_type_id, roomTypeId);
      const left = Array.from({ length: nights }, (_, night) => 100 - (night === number ? index + number : 0));
      assert.deepEqual(
        answers[position]?.body.days.map((day: { sellable: number }) => day.sellable),
        left.map((rooms, night) => (night === 4 + index ? 0 : rooms)),
      );
    }
    const made = await Promise.all(
      all.map(({ hotel, roomTypeId, nights }) =>
        service.call('POST', RESERVATIONS, {
          headers: hotel.partner,
          json: stay(hotel, { room_type_id: roomTypeId, check_in: dayAhead(60), check_out: dayAhead(60 + nights) }),
        }),
      ),
    );
    assert.deepEqual(
      made.map(({ status, body }) => [status, body.room_type_id, body.total_amount]),
      all.map(({ roomTypeId, nights }) => [201, roomTypeId, `${nights}00.00`]),
    );
  });

  it('200: valid availability calls succeed, even if concurrent calls of the same partner get 400 and 404', async () => {
    const hotel = await openHotel(service);
    const dates = `check_in=${dayAhead(40)}&check_out=${dayAhead(42)}`;
    const ids = [hotel.roomTypes['Double'], crypto.randomUUID(), 'none', hotel.roomTypes['Suite']];
    const answers = await Promise.all(
      ids.map((id) => service.call('GET', `${AVAILABILITY}?room_type_id=${id}&${dates}`, { headers: hotel.partner })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 404, 400, 200],
    );
  });
});
