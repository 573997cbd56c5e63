import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import * as nights from '#hotel/nights/store.ts';
import * as rates from '#hotel/rates/store.ts';
import { startService, type TestService } from '../support/service.ts';
import { holdFormsTogether, type Operation } from './forms.ts';
import { CAPACITY, dayAt, Houses, times } from './odd-inputs.ts';

let service: TestService;
let houses: Houses;
before(async () => {
  service = await startService();
  houses = await Houses.open(service);
});
after(() => service.close());

/** Distinct nights; on each third one all rooms but one are held before, on each third one all. */
const heldBefore = (index: number) => [0, CAPACITY - 1, CAPACITY][index % 3] as number;
const nightChanges = (count: number) =>
  times(count, (index) => ({
    tenantId: houses.at(index).tenantId,
    roomTypeId: houses.roomTypeAt(index),
    date: dayAt(index),
    rooms: 1 + (Math.floor(index / 3) % 2),
    capacity: CAPACITY,
  }));

async function prepareNights(db: Database, changes: nights.NightChange[]): Promise<void> {
  const held = changes
    .map((change, index) => ({ ...change, rooms: heldBefore(index) }))
    .filter(({ rooms }) => rooms > 0);
  if (held.length > 0) {
    await inTransaction(db, (tx) => nights.changeHeld(tx, held));
  }
}

/** A cluster takes the nights of one stay in one statement. */
const ofOneTenant = <Change extends nights.Night>(changes: Change[]) =>
  Object.values(Object.groupBy(changes, ({ tenantId }) => tenantId)).map((group) => group ?? []);

const byNight = (a: nights.Night, b: nights.Night) => (a.date < b.date ? -1 : 1);

const changeNights: Operation<nights.NightChange, nights.Night & { held: number }> = {
  name: 'counters of nights changed',
  writes: { table: 'night', key: ['date'] },
  // Rooms are given back where some are held.
  inputs: (count) =>
    nightChanges(count).map((change, index) => ({ ...change, rooms: index % 3 === 0 ? change.rooms : -change.rooms })),
  prepare: prepareNights,
  clusterGroups: ofOneTenant,
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
  name: 'nights held',
  writes: { table: 'night', key: ['date'] },
  inputs: nightChanges,
  prepare: prepareNights,
  clusterGroups: ofOneTenant,
  run: async (db, changes) => await inTransaction(db, (tx) => nights.holdNights(tx, changes)),
  order: byNight,
  async check(db, changes, outputs) {
    const isTaken = changes.map(({ rooms }, index) => heldBefore(index) + rooms <= CAPACITY);
    assert.deepEqual(
      outputs.map(({ date }) => date).sort(),
      changes.filter((_, index) => isTaken[index]).map(({ date }) => date),
    );
    const stored = await db.selectFrom('night').selectAll().orderBy('date').execute();
    const expected = changes.map(({ tenantId, roomTypeId, date, rooms }, index) => {
      const held = heldBefore(index) + (isTaken[index] ? rooms : 0);
      return { tenant_id: tenantId, room_type_id: roomTypeId, date, held };
    });
    assert.deepEqual(
      stored,
      expected.filter(({ held }) => held > 0),
    );
  },
};

/** Nights of one plan: a price or none, some of them there already. A plan's nights are always written together. */
const writeRates = (price: 'replace' | 'keep'): Operation<rates.RateRow, never> => ({
  name: `rates written, prices that are there ${price === 'keep' ? 'kept' : 'replaced'}`,
  writes: { table: 'rate', key: ['date'] },
  inputs: (count) =>
    times(count, (index) => ({
      date: dayAt(index),
      price: [null, '0', '0.10', '99999999.99'][index % 4] as string | null,
      is_sold_out: index % 3 === 0,
    })),
  async prepare(db, rows) {
    const earlier = rows.filter((_, index) => index % 2 === 0).map(previous);
    await inTransaction(db, (tx) => rates.writeRates(tx, planWrite(earlier, 'replace')));
  },
  clusterGroups: (rows) => [rows],
  async run(db, rows) {
    await inTransaction(db, (tx) => rates.writeRates(tx, planWrite(rows, price)));
    return [];
  },
  async check(db, rows) {
    const stored = await db
      .selectFrom('rate')
      .select(['tenant_id', 'rate_plan_id', 'date', 'price', 'is_sold_out'])
      .orderBy('date')
      .execute();
    const { tenantId, planId } = planWrite([], price);
    const expected = rows.map((row, index) => {
      const kept = price === 'keep' && index % 2 === 0 ? previous(row).price : row.price;
      return {
        ...row,
        tenant_id: tenantId,
        rate_plan_id: planId,
        price: kept === null ? null : Number(kept).toFixed(2),
      };
    });
    assert.deepEqual(stored, expected);
  },
});
const previous = (row: rates.RateRow) => ({ ...row, price: '12.00', is_sold_out: false });
const planWrite = (rows: rates.RateRow[], price: 'replace' | 'keep') => {
  const { tenantId, plans } = houses.at(0);
  return { tenantId, planId: plans['Double/Flexible'] ?? '', nights: rows, price };
};

/** Ranges of one night to nine. Of each night n a room type has n % 4 rooms held, and its plan differs on each third one. */
const ranges = (count: number) =>
  times(count, (index) => ({
    tenantId: houses.at(index).tenantId,
    // Each fifth one asks for a room type of another tenant.
    roomTypeId: houses.roomTypeAt(index % 5 === 4 ? index + 1 : index),
    checkIn: dayAt(index),
    checkOut: dayAt(index + 1 + (index % 9)),
  }));
const isForeign = (index: number) => index % 5 === 4;
const lengthOf = (index: number) => 1 + (index % 9);

const readHeld: Operation<nights.NightRange, nights.HeldNights | undefined> = {
  name: 'counters of nights looked up',
  writes: { table: 'night', key: ['tenant_id', 'room_type_id', 'date'] },
  inputs: ranges,
  async prepare(db, inputs) {
    const all = houses.all.flatMap(({ tenantId, roomTypes }) =>
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

async function preparePlans(db: Database, inputs: rates.StayRange[]): Promise<void> {
  for (const { tenantId, plans } of houses.all) {
    const rows = times(inputs.length + 9, (day) => ({
      date: dayAt(day),
      price: `${day}.00`,
      is_sold_out: day % 2 === 0,
    })).filter((_, day) => day % 3 === 0);
    const write = { tenantId, planId: plans['Double/Flexible'] ?? '', nights: rows, price: 'replace' } as const;
    await inTransaction(db, (tx) => rates.writeRates(tx, write));
  }
}

/** Days of a range's nights on which the plan of its room type differs; null if that has no plan or is of another tenant. */
function differingDays(index: number): number[] | null {
  const hasPlans = !isForeign(index) && index % 2 === 0;
  return hasPlans ? times(lengthOf(index), (offset) => index + offset).filter((day) => day % 3 === 0) : null;
}

const readPlans: Operation<rates.StayRange, rates.PlanInRange[]> = {
  name: 'plans looked up',
  writes: { table: 'rate', key: ['tenant_id', 'rate_plan_id', 'date'] },
  inputs: ranges,
  prepare: preparePlans,
  run: rates.readPlansInRanges,
  async check(_db, inputs, outputs) {
    for (const index of inputs.keys()) {
      const days = differingDays(index);
      const { plans } = houses.at(index);
      const differences =
        days?.map((day) => ({ date: dayAt(day), price: `${day}.00`, is_sold_out: day % 2 === 0 })) ?? [];
      const plan = { id: plans['Double/Flexible'], base_price: '100.00', min_nights: 1, is_active: true };
      const closed = {
        id: plans['Double/Closed'],
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

const readSoldOutNights: Operation<rates.StayRange, string[][]> = {
  name: 'closed nights looked up',
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

describe('each form of a statement of nights', () => {
  holdFormsTogether(() => service, changeNights);
  holdFormsTogether(() => service, holdNights);
  holdFormsTogether(() => service, readHeld);
});

describe('each form of a statement of rates', () => {
  holdFormsTogether(() => service, writeRates('replace'));
  holdFormsTogether(() => service, writeRates('keep'));
  holdFormsTogether(() => service, readPlans);
  holdFormsTogether(() => service, readSoldOutNights);
});
