import { describe } from 'node:test';
import fc from 'fast-check';
import * as nights from '#hotel/nights/store.ts';
import * as rates from '#hotel/rates/store.ts';
import { insertReservations, type NewReservation } from '#hotel/reservations/store.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { dayAfter } from '../../support/hotel.ts';
import { isTestCluster } from '../../support/test-cluster.ts';
import { any, check, dayAt, hotelOf, hotels, inTx, ownerOf, tenantIdOf, useHotels } from './hotels.ts';

useHotels();

interface GivenNight {
  hotel: number;
  date: string;
  rooms: number;
}
const aNight = fc.record({ hotel: any.hotel, date: any.day, rooms: fc.integer({ min: 1, max: 3 }) });
const nightKey = ({ hotel, date }: GivenNight) => [hotel, date];
const nightOf = ({ date, rooms, hotel }: GivenNight) => {
  const { tenantId, roomTypes } = hotelOf({ hotel });
  return { tenant_id: tenantId, room_type_id: roomTypes['Double'] ?? '', date, held: rooms, capacity: 3 };
};
const unlimited = (night: ReturnType<typeof nightOf>) => ({ ...night, capacity: Infinity });
async function holdSome(db: Database): Promise<void> {
  const held = hotels.flatMap((_, hotel) => [1, 2, 3].map((rooms) => nightOf({ hotel, date: dayAt(rooms), rooms })));
  await inTransaction(db, (tx) => nights.changeHeld(tx, held.map(unlimited)));
}
/** Returns one output for each input: the night that was changed, or undefined. */
const changedNights = (given: GivenNight[], changed: nights.NightRow[]) =>
  given.map((each) => changed.find(({ tenant_id, date }) => tenant_id === tenantIdOf(each) && date === each.date));

const planOf = (hotel: number, isClosed: boolean) =>
  hotelOf({ hotel }).plans[isClosed ? 'Double/Closed' : 'Double/Flexible'] ?? '';
async function writeSomeRates(db: Database): Promise<void> {
  for (const [hotel, { tenantId }] of hotels.entries()) {
    const given = [0, 2, 4, 6].map((day) => ({
      rate_plan_id: planOf(hotel, day === 6),
      date: dayAt(day),
      price: day === 2 ? null : '12.00',
      is_sold_out: day > 2,
    }));
    await inTransaction(db, (tx) => rates.storeNights(tx, { tenantId, nights: given, price: 'replace' }));
  }
}

const aRange = fc.record({
  hotel: any.hotel,
  isOfOther: fc.boolean(),
  from: any.day,
  count: fc.integer({ min: 1, max: 9 }),
});
type GivenRange = typeof aRange extends fc.Arbitrary<infer Range> ? Range : never;
/** Returns a range of nights. If `isOfOther` is true, its room type belongs to another tenant. */
const rangeOf = ({ hotel, isOfOther, from, count }: GivenRange) => ({
  tenant_id: tenantIdOf({ hotel }),
  room_type_id: hotelOf({ hotel: isOfOther ? hotel + 1 : hotel }).roomTypes['Double'] ?? '',
  check_in: from,
  check_out: dayAfter(from, count),
});

describe('a statement for many stays, nights or rates', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  check({
    name: 'insert of reservations',
    input: fc.record({
      hotel: any.hotel,
      id: any.id,
      natural_id: any.id,
      isPartners: fc.boolean(),
      name: any.text,
      guest_name: any.text,
      guest_phone: any.maybeText,
      guest_email: any.maybeText,
      check_in: any.day,
      total_amount: any.amount,
      created_at: any.time,
      nightly_prices: fc.option(fc.array(any.amount, { maxLength: 3 })),
      signatures: fc.array(any.text, { maxLength: 3 }),
    }),
    tables: ['reservation'],
    run: inTx(async (tx, inputs) => {
      const rows = inputs.map(({ hotel, isPartners, name, signatures, ...row }) => ({
        ...row,
        tenant_id: tenantIdOf({ hotel }),
        ...(isPartners
          ? { credential_id: ownerOf({ hotel }).credentialId, external_reservation_id: name }
          : { external_source: 'ota', external_id: name, channel_timestamp: 1e12, channel_signatures: signatures }),
        status: 'confirmed',
        room_type_id: hotelOf({ hotel }).roomTypes['Double'] ?? '',
        check_out: dayAfter(row.check_in, 1),
        guests: 2,
        currency: 'EUR',
      }));
      const inserted = await insertReservations(tx, rows as NewReservation[]);
      return inputs.map(({ id }) => inserted.has(id));
    }),
  });
  check({
    name: 'change of night counters',
    input: aNight,
    key: nightKey,
    tables: ['night'],
    prepare: holdSome,
    run: inTx(async (tx, inputs) =>
      changedNights(inputs, await nights.changeHeld(tx, inputs.map(nightOf).map(unlimited))),
    ),
  });
  check({
    name: 'hold of nights within the capacity',
    input: aNight,
    key: nightKey,
    tables: ['night'],
    prepare: holdSome,
    run: inTx(async (tx, inputs) => changedNights(inputs, await nights.changeHeld(tx, inputs.map(nightOf)))),
  });
  check({
    name: 'look-up of night counters',
    input: aRange,
    tables: ['night'],
    prepare: holdSome,
    run: (db, inputs) => nights.readHeld(db, inputs.map(rangeOf)),
  });
  for (const [name, read] of [
    ['rate plans with their entries', rates.readCalendars],
    ['sold-out nights', rates.readSoldOutNights],
  ] as [string, (db: Database, ranges: rates.StayRange[]) => Promise<unknown[]>][]) {
    check({
      name: `look-up of ${name}`,
      input: aRange,
      tables: ['rate'],
      prepare: writeSomeRates,
      run: (db, inputs) => read(db, inputs.map(rangeOf)),
    });
  }
  for (const price of ['replace', 'keep'] as const) {
    check({
      name: `write of rates that ${price}s stored prices`,
      input: fc.record({
        hotel: fc.constant(0),
        isClosed: fc.boolean(),
        date: any.day,
        price: fc.option(any.amount),
        is_sold_out: fc.boolean(),
      }),
      key: ({ isClosed, date }) => [isClosed, date],
      tables: ['rate'],
      prepare: writeSomeRates,
      run: inTx(async (tx, inputs) => {
        const given = inputs.map(({ hotel, isClosed, ...night }) => ({
          ...night,
          rate_plan_id: planOf(hotel, isClosed),
        }));
        await rates.storeNights(tx, { tenantId: tenantIdOf({ hotel: 0 }), nights: given, price });
        return [];
      }),
    });
  }
});
