import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  AVAILABILITY,
  book,
  dayAhead,
  openHotel,
  openHouse,
  pmsHeaders,
  RESERVATIONS,
  stay,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { createNightReader, type NightRange } from '../nights/nights.ts';
import { createRateReader } from '../rates/rates.ts';

const HOUSES = 3;
const ROOM_TYPES = ['Double', 'Suite', 'Bunk'];

let service: TestService;
/** In the house of number n the room type of number m has m + n rooms held on night n, and is closed on night m + 4 at a price of its own. */
let houses: TestHotel[];

const roomTypes = ROOM_TYPES.map((name) => ({
  name,
  max_occupancy: 2,
  physical_capacity: 100,
  rate_plans: [{ name: 'Flexible', base_price: '100.00' }],
}));

async function openBusyHouse(number: number): Promise<TestHotel> {
  const house = await openHouse(service, roomTypes);
  const pms = await pmsHeaders(service, house);
  for (const [index, name] of ROOM_TYPES.entries()) {
    const night = { check_in: dayAhead(40 + number), check_out: dayAhead(41 + number) };
    for (let count = 0; count < index + number; count += 1) {
      assert.equal((await book(service, house, { room_type_id: house.roomTypes[name], ...night })).status, 201);
    }
    const closed = { date: dayAhead(44 + index), price: 10 * number + index, is_sold_out: true };
    await writePlan(service, pms, 'rates', house.plans[`${name}/Flexible`], [closed]);
  }
  return house;
}

before(async () => {
  service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  houses = await Promise.all(Array.from({ length: HOUSES }, (_, number) => openBusyHouse(number)));
});
after(() => service.close());

/** Every room type of every house, from one to eight nights: what is asked of each, and by which numbers it is known. */
function asked() {
  return houses.flatMap((house, number) =>
    ROOM_TYPES.map((name, index) => ({
      house,
      number,
      index,
      nights: 1 + ((number * ROOM_TYPES.length + index * 5) % 8),
      roomTypeId: house.roomTypes[name] ?? '',
    })),
  );
}

const rangeOf = ({ house, nights, roomTypeId }: ReturnType<typeof asked>[number]): NightRange => ({
  tenantId: house.tenantId,
  roomTypeId,
  checkIn: dayAhead(40),
  checkOut: dayAhead(40 + nights),
});

/** Runs the work with a database on one node, and with one that is asked as a cluster is. */
async function forEachLayout(work: (db: Database) => Promise<void>): Promise<void> {
  await work(service.database.db);
  const cluster = createDatabase({ url: service.database.url, poolSize: 4, layout: 'cluster' });
  try {
    await work(cluster);
  } finally {
    await cluster.destroy();
  }
}

describe('look-ups that go together', () => {
  it('nights: each has the counters of its own tenant, room type and dates', async () => {
    await forEachLayout(async (db) => {
      const readHeldNights = createNightReader(db);
      const all = asked();
      const answers = await Promise.all(all.map((each) => readHeldNights(rangeOf(each))));
      for (const [place, { number, index, nights }] of all.entries()) {
        const held = Array.from({ length: nights }, (_, night) => (night === number ? index + number : 0));
        assert.deepEqual(
          answers[place],
          held.map((rooms, night) => ({ date: dayAhead(40 + night), held: rooms })),
        );
      }
    });
  });

  it('rates: each has the plan, the price and the closed night of its own', async () => {
    await forEachLayout(async (db) => {
      const rates = createRateReader(db);
      const all = asked();
      const calendars = await Promise.all(all.map((each) => rates.readCalendars(rangeOf(each))));
      const closed = await Promise.all(all.map((each) => rates.readClosedNights(rangeOf(each))));
      for (const [place, { house, number, index, nights }] of all.entries()) {
        const date = dayAhead(44 + index);
        const isWithin = nights > 4 + index;
        const difference = { date, price: `${10 * number + index}.00`, is_sold_out: true };
        assert.deepEqual(calendars[place], [
          {
            id: house.plans[`${ROOM_TYPES[index]}/Flexible`],
            basePrice: '100.00',
            minNights: 1,
            isActive: true,
            differences: new Map(isWithin ? [[date, difference]] : []),
          },
        ]);
        assert.deepEqual([...(closed[place] ?? [])], isWithin ? [date] : []);
      }
    });
  });

  it('another tenant’s room type has no plan and no night, whoever is asked for beside it', async () => {
    const { db } = service.database;
    const rates = createRateReader(db);
    const readHeldNights = createNightReader(db);
    const [own, other] = [houses[1], houses[2]];
    assert.ok(own && other);
    const dates = { checkIn: dayAhead(40), checkOut: dayAhead(48) };
    const ranges = [
      { tenantId: own.tenantId, roomTypeId: own.roomTypes['Bunk'] ?? '', ...dates },
      { tenantId: own.tenantId, roomTypeId: other.roomTypes['Bunk'] ?? '', ...dates },
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

  it('what the database refuses is refused to its caller alone', async () => {
    const { db } = service.database;
    const rates = createRateReader(db);
    const readHeldNights = createNightReader(db);
    const ranges = asked().map(rangeOf);
    ranges.splice(2, 0, { tenantId: 1, roomTypeId: 'no uuid', checkIn: dayAhead(1), checkOut: dayAhead(2) });
    for (const read of [readHeldNights, rates.readCalendars, rates.readClosedNights]) {
      const outcomes = await Promise.allSettled(ranges.map((range) => read(range)));
      assert.deepEqual(
        outcomes.flatMap(({ status }, place) => (status === 'rejected' ? [place] : [])),
        [2],
      );
    }
  });
});

describe('partners who ask at once', () => {
  it('200 each with the nights of its own house, and 201 each at the price of its own plan', async () => {
    const all = asked();
    const answers = await Promise.all(
      all.map(({ house, roomTypeId, nights }) =>
        service.call(
          'GET',
          `${AVAILABILITY}?room_type_id=${roomTypeId}&check_in=${dayAhead(40)}&check_out=${dayAhead(40 + nights)}`,
          { headers: house.partner },
        ),
      ),
    );
    for (const [place, { number, index, nights, roomTypeId }] of all.entries()) {
      assert.equal(answers[place]?.body.room_type_id, roomTypeId);
      const left = Array.from({ length: nights }, (_, night) => 100 - (night === number ? index + number : 0));
      assert.deepEqual(
        answers[place]?.body.days.map((day: { sellable: number }) => day.sellable),
        left.map((rooms, night) => (night === 4 + index ? 0 : rooms)),
      );
    }
    const made = await Promise.all(
      all.map(({ house, roomTypeId, nights }) =>
        service.call('POST', RESERVATIONS, {
          headers: house.partner,
          json: stay(house, { room_type_id: roomTypeId, check_in: dayAhead(60), check_out: dayAhead(60 + nights) }),
        }),
      ),
    );
    assert.deepEqual(
      made.map(({ status, body }) => [status, body.room_type_id, body.total_amount]),
      all.map(({ roomTypeId, nights }) => [201, roomTypeId, `${nights}00.00`]),
    );
  });

  it('200 beside 400 and 404: a bad call spoils none that came with it', async () => {
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
