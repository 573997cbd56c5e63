import { batching } from '#platform/db/batching.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { countNights, type DateText, nightsOf } from '#platform/lib/dates.ts';
import { changeHeld, type HeldNights, type Night, type NightChange, type NightRange, readHeld } from './store.ts';

export { changeHeld, findHeld, type NightRange } from './store.ts';

/** One room of a room type, held from the night of `checkIn` to the night before `checkOut`. */
export interface Hold {
  roomTypeId: string;
  checkIn: DateText;
  checkOut: DateText;
}

/**
 * Releases the nights that a reservation held before (`from`), and holds the nights that it needs now (`to`). `from` is null if the
 * reservation held no night, and `to` is null if it needs no night, for example after a cancellation. Does not write the counters of nights
 * that are in both `from` and `to`.
 * @param capacity number of rooms of the room type of `to`. By default, the number of held rooms is not checked
 * @returns false if an added night has no room left. The caller must then roll back the transaction, because this call may already have
 * held or released rooms on other nights
 */
export async function moveHold(
  tx: Tx,
  tenantId: number,
  from: Hold | null,
  to: Hold | null,
  capacity = Infinity,
): Promise<boolean> {
  const changes = new NightSums();
  if (to !== null) {
    changes.addStay(tenantId, to, 1, capacity);
  }
  if (from !== null) {
    changes.addStay(tenantId, from, -1);
  }
  const all = changes.all();
  // The SQL statement of `changeHeld` does not check the capacity of a night that has no row yet, so the capacity is checked here.
  if (all.some((night) => night.rooms > night.capacity)) {
    return false;
  }
  return (await changeCounters(tx, all)).length === all.length;
}

/** Request to hold one room on each night of a new stay. */
export interface NewHold {
  tenantId: number;
  hold: Hold;
  /** Number of rooms of the room type, which is the largest number that may be held on one night. If Infinity, it is not checked. */
  capacity: number;
}

/**
 * Holds the nights of several stays. If the stays together need more rooms of a night than are left, the function refuses every stay that
 * includes this night. The caller may then try the refused stays one at a time.
 * @param stays on one database node, the stays may belong to several tenants. On a database cluster, all stays must belong to one tenant
 * @returns the refused stays. No night is held for them
 */
export async function holdNightsOf<Stay extends NewHold>(tx: Tx, stays: Stay[]): Promise<Set<Stay>> {
  const sums = new NightSums();
  const requests = stays.map((stay) => ({ stay, nights: sums.addStay(stay.tenantId, stay.hold, 1, stay.capacity) }));
  // The SQL statement of `changeHeld` does not check the capacity of a night that has no row yet. So if the stays of this call together
  // need more rooms of a night than the room type has, they are refused here.
  const refused = requests.filter(({ nights }) => nights.some(({ rooms, capacity }) => rooms > capacity));
  refused.forEach(({ nights }) => nights.forEach((night) => sums.add(night, -1)));
  const held = new Set((await changeCounters(tx, sums.all())).map((night) => sums.of(night)));
  const released = new NightSums();
  for (const request of requests.filter((each) => !refused.includes(each))) {
    if (request.nights.some((night) => !held.has(night))) {
      refused.push(request);
      request.nights.filter((night) => held.has(night)).forEach((night) => released.add(night, -1));
    }
  }
  await changeCounters(tx, released.all());
  return new Set(refused.map(({ stay }) => stay));
}

/** @returns the nights that were changed. A night without enough rooms is not changed */
async function changeCounters(tx: Tx, changes: NightSum[]): Promise<Night[]> {
  const changed = changes.length === 0 ? [] : await changeHeld(tx, changes);
  const negative = changed.find(({ held }) => held < 0);
  if (negative !== undefined) {
    const { tenantId, roomTypeId, date } = negative;
    throw new Error(
      `The night counter of ${date} of the room type ${roomTypeId} of tenant ${tenantId} would fall below 0. ` +
        'This is a fault of the program, because more rooms were released than held. Run "roomservice nights verify".',
    );
  }
  return changed;
}

/**
 * Sum of the rooms that several stays add to one night counter. `capacity` is the total number of rooms of the room type, or Infinity if
 * the capacity is not checked. The service reads the capacity for each stay. If the hotel changes the capacity between two reads, the
 * smallest capacity that was read counts.
 */
type NightSum = NightChange & { capacity: number };

/** Sums of the changes that several stays make to night counters, one sum for each night. */
class NightSums {
  readonly #sums = new Map<string, NightSum>();

  /** Adds `rooms` to the sum of each night of the stay. Returns the sums of these nights. */
  addStay(tenantId: number, { roomTypeId, checkIn, checkOut }: Hold, rooms: number, capacity = Infinity): NightSum[] {
    return nightsOf(checkIn, checkOut).map((date) => this.add({ tenantId, roomTypeId, date }, rooms, capacity));
  }

  add(night: Night, rooms: number, capacity = Infinity): NightSum {
    const sum = this.of(night) ?? { ...night, rooms: 0, capacity };
    sum.rooms += rooms;
    sum.capacity = Math.min(sum.capacity, capacity);
    this.#sums.set(keyOf(night), sum);
    return sum;
  }

  of(night: Night): NightSum | undefined {
    return this.#sums.get(keyOf(night));
  }

  /** Returns the sums of all nights on which the number of held rooms changes. */
  all(): NightSum[] {
    return [...this.#sums.values()].filter(({ rooms }) => rooms !== 0);
  }
}

function keyOf({ tenantId, roomTypeId, date }: Night): string {
  return `${tenantId} ${roomTypeId} ${date}`;
}

/** Reads the number of rooms held on each night of the range, sorted by date. */
export type ReadHeldNights = (range: NightRange) => Promise<{ date: DateText; held: number }[]>;

/** Creates the reader of night counters. Calls that arrive together share one SQL statement. */
export function createNightReader(db: Database): ReadHeldNights {
  const readCounters = batching(
    db,
    (ranges: NightRange[]) => readHeld(db, ranges),
    ({ tenantId }) => tenantId,
  );
  return async (range) => listNights(range, await readCounters(range));
}

/**
 * Reads the numbers of rooms held on the nights of several ranges, by one statement. Returns one list for each range. The list has one
 * number for each night of the range, sorted by date.
 */
export async function readHeldCounts(db: Database, ranges: NightRange[]): Promise<number[][]> {
  const counters = await readHeld(db, ranges);
  return ranges.map(({ checkIn, checkOut }, index) => {
    const counts = Array.from({ length: countNights(checkIn, checkOut) }, () => 0);
    counters[index]?.offsets?.forEach((offset, position) => (counts[offset] = counters[index]?.held?.[position] ?? 0));
    return counts;
  });
}

/** Returns an entry for each night of the range. A night without a counter has 0 rooms held. */
function listNights({ checkIn, checkOut }: NightRange, counters: HeldNights | undefined) {
  const nights = nightsOf(checkIn, checkOut).map((date) => ({ date, held: 0 }));
  counters?.offsets?.forEach((offset, index) => {
    const night = nights[offset];
    if (night !== undefined) {
      night.held = counters.held?.[index] ?? 0;
    }
  });
  return nights;
}
