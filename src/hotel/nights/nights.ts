/** The rooms held on each night. Every change of a night counter goes through this file. */
import { batching } from '#platform/db/batching.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { countNights, type DateText, nightsOf } from '#platform/lib/dates.ts';
import type { StayRange } from '../rates/rates.ts';
import { changeHeld, type HeldNights, type Night, type NightChange, readHeld } from './store.ts';

export { changeHeld, findHeld } from './store.ts';

export interface Hold {
  roomTypeId: string;
  checkIn: DateText;
  checkOut: DateText;
}

/**
 * Releases the nights of `from` and holds the nights of `to`, without a write to the counters of nights in both.
 * @param capacity by default, the number of held rooms is not checked
 * @returns false if an added night has no room left. The caller must then roll back the transaction
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

/**
 * Holds the nights of several stays. If the stays together need more rooms of a night than are left, refuses every stay that includes this
 * night. On a database cluster, all stays must belong to one tenant.
 * @returns the refused stays. No night is held for them
 */
export async function holdNightsOf<Stay extends { tenantId: number; hold: Hold; capacity: number }>(
  tx: Tx,
  stays: Stay[],
): Promise<Set<Stay>> {
  const sums = new NightSums();
  const requests = stays.map((stay) => ({ stay, nights: sums.addStay(stay.tenantId, stay.hold, 1, stay.capacity) }));
  // As in `moveHold`: stays that together need more rooms of a night than the room type has are refused here.
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

/** If the hotel changes the capacity between two reads, the smallest capacity that was read counts. */
type NightSum = NightChange & { capacity: number };

class NightSums {
  readonly #sums = new Map<string, NightSum>();

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

  all(): NightSum[] {
    return [...this.#sums.values()].filter(({ rooms }) => rooms !== 0);
  }
}

function keyOf({ tenantId, roomTypeId, date }: Night): string {
  return `${tenantId} ${roomTypeId} ${date}`;
}

export type ReadHeldNights = (range: StayRange) => Promise<{ date: DateText; held: number }[]>;

/** Calls that arrive together share one SQL statement. */
export function createNightReader(db: Database): ReadHeldNights {
  const readCounters = batching(
    db,
    (ranges: StayRange[]) => readHeld(db, ranges),
    ({ tenantId }) => tenantId,
  );
  return async (range) => {
    const held = heldOf(range, await readCounters(range));
    return nightsOf(range.checkIn, range.checkOut).map((date, night) => ({ date, held: held[night] ?? 0 }));
  };
}

export async function readHeldCounts(db: Database, ranges: StayRange[]): Promise<number[][]> {
  const counters = await readHeld(db, ranges);
  return ranges.map((range, index) => heldOf(range, counters[index]));
}

function heldOf({ checkIn, checkOut }: StayRange, counters: HeldNights | undefined): number[] {
  const held = new Map(counters?.offsets?.map((offset, index) => [offset, counters.held?.[index]]));
  return Array.from({ length: countNights(checkIn, checkOut) }, (_, night) => held.get(night) ?? 0);
}
