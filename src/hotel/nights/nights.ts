import { batching } from '#platform/db/batching.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { type DateText, nightsOf } from '#platform/lib/dates.ts';
import {
  changeHeld,
  type HeldNights,
  holdNights,
  type Night,
  type NightChange,
  type NightRange,
  readHeld,
} from './store.ts';

export type { NightRange } from './store.ts';

/** Rooms of a type taken for the nights of a stay; null where a reservation holds none. */
export interface Hold {
  roomTypeId: string;
  checkIn: DateText;
  checkOut: DateText;
}

/**
 * Moves a reservation's hold from one stay to another, either of which may be none, whatever is left. Nights that both stays share are
 * not touched.
 */
export async function moveHold(tx: Tx, tenantId: number, from: Hold | null, to: Hold | null): Promise<void> {
  const changes = new NightSums();
  if (from !== null) {
    changes.addStay(tenantId, from, -1);
  }
  if (to !== null) {
    changes.addStay(tenantId, to, 1);
  }
  await changeCounters(tx, changes);
}

/** A stay that wants its nights. */
export interface NewHold {
  tenantId: number;
  hold: Hold;
  /** The most rooms of the type that may be held on a night. */
  capacity: number;
}

/**
 * Takes the nights of stays, of any tenants on one node. If a night has not enough rooms left for all stays that want it, all of these
 * are refused; asked for by itself, one of them may find a room.
 * @returns the refused stays, of which no night is taken
 */
export async function holdNightsOf<Stay extends NewHold>(tx: Tx, stays: Stay[]): Promise<Set<Stay>> {
  const sums = new NightSums();
  const wishes = stays.map((stay) => ({ stay, nights: sums.addStay(stay.tenantId, stay.hold, 1, stay.capacity) }));
  // Refused before, because a night that has no row yet takes whatever is wanted.
  const refused = wishes.filter(({ nights }) => nights.some(({ rooms, capacity }) => rooms > capacity));
  refused.forEach(({ nights }) => nights.forEach((night) => sums.add(night, -1)));
  const wanted = sums.all();
  const taken = new Set(wanted.length === 0 ? [] : (await holdNights(tx, wanted)).map((night) => sums.of(night)));
  const returned = new NightSums();
  for (const wish of wishes.filter((each) => !refused.includes(each))) {
    if (wish.nights.some((night) => !taken.has(night))) {
      refused.push(wish);
      wish.nights.filter((night) => taken.has(night)).forEach((night) => returned.add(night, -1));
    }
  }
  await changeCounters(tx, returned);
  return new Set(refused.map(({ stay }) => stay));
}

async function changeCounters(tx: Tx, changes: NightSums): Promise<void> {
  const all = changes.all();
  const nights = all.length === 0 ? [] : await changeHeld(tx, all);
  if (nights.some(({ held }) => held < 0)) {
    throw new Error('a night was given back twice');
  }
}

/** Rooms of a night, and the smallest capacity that a stay knows of it. */
type NightSum = NightChange & { capacity: number };

class NightSums {
  readonly #sums = new Map<string, NightSum>();

  /** @returns the sums of the stay's nights */
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

  /** The nights whose sum is not 0. */
  all(): NightSum[] {
    return [...this.#sums.values()].filter(({ rooms }) => rooms !== 0);
  }
}

function keyOf({ tenantId, roomTypeId, date }: Night): string {
  return `${tenantId} ${roomTypeId} ${date}`;
}

/** Rooms held on every night of the range, in its order; 0 where none is. */
export type ReadHeldNights = (range: NightRange) => Promise<{ date: DateText; held: number }[]>;

/** While the database works on one statement, the answers to another are made. */
const LOOK_UPS_UNDER_WAY = 2;

export function createNightReader(db: Database): ReadHeldNights {
  const readCounters = batching(db, {
    many: (ranges: NightRange[]) => readHeld(db, ranges),
    maxUnderWay: LOOK_UPS_UNDER_WAY,
  });
  return async (range) => nightByNight(range, await readCounters(range));
}

function nightByNight({ checkIn, checkOut }: NightRange, counters: HeldNights | undefined) {
  const nights = nightsOf(checkIn, checkOut).map((date) => ({ date, held: 0 }));
  counters?.offsets?.forEach((offset, index) => {
    const night = nights[offset];
    if (night !== undefined) {
      night.held = counters.held?.[index] ?? 0;
    }
  });
  return nights;
}
