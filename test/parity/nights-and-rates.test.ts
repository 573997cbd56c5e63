import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import * as nights from '#hotel/nights/store.ts';
import { type PlanNights, readPlanNights as readPlansOfCalendar } from '#hotel/rates/calendar-store.ts';
import * as rates from '#hotel/rates/store.ts';
import { startService, type TestService } from '../support/service.ts';
import { testEachForm, type Operation } from './forms.ts';
import { capacityAt, dayAt, Hotels, times } from './odd-inputs.ts';
import { isTestCluster } from '../support/test-cluster.ts';

let service: TestService;
let hotels: Hotels;
before(async () => {
  service = await startService();
  hotels = await Hotels.open(service);
});
after(() => service.close());

/**
 * Returns the number of rooms that are already held when the test begins, for the night with this index. In one third of the nights, no
 * room is held. In one third, all rooms except one are held. In one third, all rooms are held.
 */
const heldBefore = (index: number) => [0, capacityAt(index) - 1, capacityAt(index)][index % 3] as number;
const nightChanges = (count: number) =>
  times(count, (index) => ({
    tenantId: hotels.at(index).tenantId,
    roomTypeId: hotels.roomTypeAt(index),
    date: dayAt(index),
    rooms: 1 + (Math.floor(index / 3) % 2),
    capacity: capacityAt(index),
  }));

async function prepareNights(db: Database, changes: nights.NightChange[]): Promise<void> {
  const held = changes
    .map((change, index) => ({ ...change, rooms: heldBefore(index) }))
    .filter(({ rooms }) => rooms > 0);
  if (held.length > 0) {
    await inTransaction(db, (tx) => nights.changeHeld(tx, held));
  }
}

const tenantIdOf = ({ tenantId }: { tenantId: number }) => tenantId;

const byNight = (a: nights.Night, b: nights.Night) => (a.date < b.date ? -1 : 1);

const changeNights: Operation<nights.NightChange, nights.Night & { held: number }> = {
  name: 'change of night counters',
  writes: { table: 'night', key: ['date'] },
  // Releases rooms on the nights on which rooms are already held, and holds rooms on the other nights.
  inputs: (count) =>
    nightChanges(count).map((change, index) => ({ ...change, rooms: index % 3 === 0 ? change.rooms : -change.rooms })),
  prepare: prepareNights,
  tenantIdOf,
  run: async (db, changes) => await inTransaction(db, (tx) => nights.changeHeld(tx, changes)),
  order: byNight,
  async check(_db, changes, outputs) {
    const expected = changes.map(({ tenantId, roomTypeId, date, rooms }, index) => {
      return { tenantId, roomTypeId, date, held: heldBefore(index) + rooms };
    });
    assert.deepEqual(outputs.toSorted(byNight), expected);
  },
};

const holdNights: Operation<nights.NightChange & { capacity: number }, nights.Night> = {
  name: 'hold of nights within the capacity',
  writes: { table: 'night', key: ['date'] },
  inputs: nightChanges,
  prepare: prepareNights,
  tenantIdOf,
  run: async (db, changes) => await inTransaction(db, (tx) => nights.holdNights(tx, changes)),
  order: byNight,
  async check(db, changes, outputs) {
    const isHeld = changes.map(({ rooms }, index) => heldBefore(index) + rooms <= capacityAt(index));
    assert.deepEqual(
      outputs.map(({ date }) => date).sort(),
      changes.filter((_, index) => isHeld[index]).map(({ date }) => date),
    );
    const stored = await db.selectFrom('night').selectAll().orderBy('date').execute();
    const expected = changes.map(({ tenantId, roomTypeId, date, rooms }, index) => {
      const held = heldBefore(index) + (isHeld[index] ? rooms : 0);
      return { tenant_id: tenantId, room_type_id: roomTypeId, date, held };
    });
    assert.deepEqual(
      stored,
      expected.filter(({ held }) => held > 0),
    );
  },
};

/**
 * Writes prices and sold-out flags for nights of two rate plans of one tenant. Every second night already has a stored entry. If `price` is
 * `keep`, the write must keep the price of this entry. All nights are of one tenant, so one statement writes them all, also on a cluster.
 */
const writeRates = (price: 'replace' | 'keep'): Operation<rates.PlanNight, never> => ({
  name: `write of rates that ${price === 'keep' ? 'keeps' : 'replaces'} the stored prices`,
  writes: { table: 'rate', key: ['date'] },
  inputs: (count) =>
    times(count, (index) => ({
      rate_plan_id: planAt(Math.floor(index / 2)),
      date: dayAt(index),
      price: [null, '0', '0.10', '99999999.99'][index % 4] as string | null,
      is_sold_out: index % 3 === 0,
    })),
  async prepare(db, rows) {
    const earlier = rows.filter((_, index) => index % 2 === 0).map(previous);
    await inTransaction(db, (tx) =>
      rates.writeRates(tx, { tenantId: firstTenant(), nights: earlier, price: 'replace' }),
    );
  },
  async run(db, rows) {
    await inTransaction(db, (tx) => rates.writeRates(tx, { tenantId: firstTenant(), nights: rows, price }));
    return [];
  },
  async check(db, rows) {
    const stored = await db
      .selectFrom('rate')
      .select(['tenant_id', 'rate_plan_id', 'date', 'price', 'is_sold_out'])
      .orderBy('date')
      .execute();
    const expected = rows.map((row, index) => {
      const kept = price === 'keep' && index % 2 === 0 ? previous(row).price : row.price;
      return { ...row, tenant_id: firstTenant(), price: kept === null ? null : Number(kept).toFixed(2) };
    });
    assert.deepEqual(stored, expected);
  },
});
const previous = (row: rates.PlanNight) => ({ ...row, price: '12.00', is_sold_out: false });
const firstTenant = () => hotels.at(0).tenantId;
/**
 * Returns the id of a rate plan of the first tenant. For an even `index` it is the plan Flexible, and for an odd `index` the plan Closed.
 */
const planAt = (index: number) => hotels.at(0).plans[index % 2 === 0 ? 'Double/Flexible' : 'Double/Closed'] ?? '';

/**
 * Looks up nights of both rate plans of the first tenant. Only every third night of the plan Flexible has a stored entry. The plan Closed
 * has no entries.
 */
const readNights: Operation<{ rate_plan_id: string; date: string }, rates.PlanNight> = {
  name: 'look-up of single nights of rate plans',
  writes: { table: 'rate', key: ['tenant_id', 'rate_plan_id', 'date'] },
  inputs: (count) => times(count, (index) => ({ rate_plan_id: planAt(Math.floor(index / 2)), date: dayAt(index) })),
  prepare: (db, inputs) =>
    preparePlans(
      db,
      inputs.map(() => null),
    ),
  run: (db, inputs) => rates.readNights(db, firstTenant(), inputs),
  order: (a, b) => (a.date < b.date ? -1 : 1),
  async check(_db, inputs, outputs) {
    const expected = inputs.flatMap((input, day) =>
      input.rate_plan_id === planAt(0) && day % 3 === 0
        ? [{ ...input, price: `${day}.00`, is_sold_out: day % 2 === 0 }]
        : [],
    );
    assert.deepEqual(outputs, expected);
  },
};

/** Returns date ranges of one to nine nights. Every fifth range has a room type of another tenant. */
const ranges = (count: number) =>
  times(count, (index) => ({
    tenantId: hotels.at(index).tenantId,
    // The next index belongs to the next tenant. So every fifth range gets a room type that its tenant does not have.
    roomTypeId: hotels.roomTypeAt(index % 5 === 4 ? index + 1 : index),
    checkIn: dayAt(index),
    checkOut: dayAt(index + 1 + (index % 9)),
  }));
const isForeign = (index: number) => index % 5 === 4;
const lengthOf = (index: number) => 1 + (index % 9);

/** Reads night counters. On night n of each room type, n % 4 rooms are held. */
const readHeld: Operation<nights.NightRange, nights.HeldNights | undefined> = {
  name: 'look-up of night counters',
  tenantIdOf,
  writes: { table: 'night', key: ['tenant_id', 'room_type_id', 'date'] },
  inputs: ranges,
  async prepare(db, inputs) {
    const all = hotels.all.flatMap(({ tenantId, roomTypes }) =>
      Object.values(roomTypes).flatMap((roomTypeId) =>
        times(inputs.length + 9, (day) => ({ tenantId, roomTypeId, date: dayAt(day), rooms: day % 4 })).filter(
          ({ rooms }) => rooms > 0,
        ),
      ),
    );
    await inTransaction(db, (tx) => nights.changeHeld(tx, all));
  },
  run: nights.readHeld,
  async check(_db, inputs, outputs) {
    for (const index of inputs.keys()) {
      const offsets = times(isForeign(index) ? 0 : lengthOf(index), (offset) => offset).filter(
        (offset) => (index + offset) % 4 > 0,
      );
      const held = offsets.map((offset) => (index + offset) % 4);
      assert.deepEqual(outputs[index], offsets.length === 0 ? { offsets: null, held: null } : { offsets, held });
    }
  },
};

/**
 * Stores a rate for every third night of the rate plan Flexible of each tenant. Every stored rate has a price. Every second stored rate
 * also marks its night as sold out.
 */
async function preparePlans(db: Database, inputs: unknown[]): Promise<void> {
  for (const { tenantId, plans } of hotels.all) {
    const rows = times(inputs.length + 9, (day) => ({
      date: dayAt(day),
      price: `${day}.00`,
      is_sold_out: day % 2 === 0,
    })).filter((_, day) => day % 3 === 0);
    const rate_plan_id = plans['Double/Flexible'] ?? '';
    const given = rows.map((row) => ({ ...row, rate_plan_id }));
    await inTransaction(db, (tx) => rates.writeRates(tx, { tenantId, nights: given, price: 'replace' }));
  }
}

/**
 * Returns the nights of a date range for which the plan Flexible has a stored rate. On these nights, the stored rate replaces the base
 * price of the plan. Each night is a number that `dayAt` converts to a date. Returns null if the tenant has no rate plans for the room type
 * of the range. There are two reasons:
 * - The room type is Suite, and only the room type Double has rate plans.
 * - The room type belongs to another tenant.
 * @param index position of the range in the result of `ranges`
 */
function differingDays(index: number): number[] | null {
  const hasPlans = !isForeign(index) && index % 2 === 0;
  return hasPlans ? times(lengthOf(index), (offset) => index + offset).filter((day) => day % 3 === 0) : null;
}

const readPlans: Operation<rates.StayRange, rates.PlanInRange[]> = {
  name: 'look-up of rate plans with their entries',
  tenantIdOf,
  writes: { table: 'rate', key: ['tenant_id', 'rate_plan_id', 'date'] },
  inputs: ranges,
  prepare: preparePlans,
  run: rates.readPlansInRanges,
  async check(_db, inputs, outputs) {
    for (const index of inputs.keys()) {
      const days = differingDays(index);
      const { plans } = hotels.at(index);
      const differences =
        days?.map((day) => ({ date: dayAt(day), price: `${day}.00`, is_sold_out: day % 2 === 0 })) ?? [];
      const plan = {
        id: plans['Double/Flexible'],
        name: 'Flexible',
        base_price: '100.00',
        min_nights: 1,
        is_active: true,
      };
      const closed = {
        id: plans['Double/Closed'],
        name: 'Closed',
        base_price: '90.50',
        min_nights: 1,
        is_active: false,
        differences: null,
      };
      const both = [{ ...plan, differences: differences.length === 0 ? null : differences }, closed];
      assert.deepEqual(outputs[index], days === null ? [] : both);
    }
  },
};

const readPlanNights: Operation<rates.StayRange, PlanNights[]> = {
  name: 'look-up of active rate plans with lists of their nights',
  tenantIdOf,
  writes: { table: 'rate', key: ['tenant_id', 'rate_plan_id', 'date'] },
  inputs: ranges,
  prepare: preparePlans,
  run: readPlansOfCalendar,
  async check(_db, inputs, outputs) {
    for (const index of inputs.keys()) {
      const days = differingDays(index);
      const id = hotels.at(index).plans['Double/Flexible'] ?? '';
      const lists =
        days === null || days.length === 0
          ? { offsets: null, prices: null, sold_out: null }
          : {
              offsets: days.map((day) => day - index),
              prices: days.map((day) => `${day}.00`),
              sold_out: days.map((day) => day % 2 === 0),
            };
      const plan = { id, name: 'Flexible', base_price: '100.00', min_nights: 1, ...lists };
      assert.deepEqual(outputs[index], days === null ? [] : [plan]);
    }
  },
};

const readSoldOutNights: Operation<rates.StayRange, string[][]> = {
  name: 'look-up of sold-out nights',
  tenantIdOf,
  writes: { table: 'rate', key: ['tenant_id', 'rate_plan_id', 'date'] },
  inputs: ranges,
  prepare: preparePlans,
  run: rates.readSoldOutNights,
  async check(_db, inputs, outputs) {
    for (const index of inputs.keys()) {
      const days = differingDays(index)?.filter((day) => day % 2 === 0);
      assert.deepEqual(outputs[index], days === undefined ? [] : [days.map(dayAt)]);
    }
  },
};

describe('statements that change and read night counters, with one input and with several inputs', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  testEachForm(() => service, changeNights);
  testEachForm(() => service, holdNights);
  testEachForm(() => service, readHeld);
});

describe('statements that write and read rates, with one input and with several inputs', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  testEachForm(() => service, writeRates('replace'));
  testEachForm(() => service, writeRates('keep'));
  testEachForm(() => service, readNights);
  testEachForm(() => service, readPlans);
  testEachForm(() => service, readPlanNights);
  testEachForm(() => service, readSoldOutNights);
});
