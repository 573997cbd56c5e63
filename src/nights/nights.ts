import { batching } from '../db/batching.ts';
import type { Database, Tx } from '../db/database.ts';
import { type DateText, nightsOf } from '../lib/dates.ts';
import {
  changeHeld,
  type HeldNights,
  holdNights,
  type Night,
  type NightChange,
  type NightRange,
  readHeld,
} from './store.ts';

export { type NightDifference, type NightRange, recount } from './store.ts';

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
    changes.add({ tenantId, hold: from }, -1);
  }
  if (to !== null) {
    changes.add({ tenantId, hold: to }, 1);
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
  // Refused before, because a night that has no row yet takes whatever is wanted.
  const wanted = NightSums.of(stays);
  const refused = new Set(stays.filter((stay) => wanted.isAnyOf(stay, ({ rooms, capacity }) => rooms > capacity)));
  const others = stays.filter((stay) => !refused.has(stay));
  const nights = NightSums.of(others);
  const taken = new Set(nights.isEmpty ? [] : (await holdNights(tx, nights.all())).map(keyOf));
  const returned = new NightSums();
  for (const stay of others) {
    if (nights.isAnyOf(stay, (night) => !taken.has(keyOf(night)))) {
      refused.add(stay);
      returned.add(stay, -1, (night) => taken.has(keyOf(night)));
    }
  }
  await changeCounters(tx, returned);
  return refused;
}

async function changeCounters(tx: Tx, changes: NightSums): Promise<void> {
  if (changes.isEmpty) {
    return;
  }
  const nights = await changeHeld(tx, changes.all());
  if (nights.some(({ held }) => held < 0)) {
    throw new Error('a night was given back twice');
  }
}

/** Rooms by night, and the smallest capacity that a stay knows of the night. */
class NightSums {
  readonly #sums = new Map<string, NightChange & { capacity: number }>();

  static of(stays: NewHold[]): NightSums {
    const sums = new NightSums();
    stays.forEach((stay) => sums.add(stay, 1));
    return sums;
  }

  get isEmpty(): boolean {
    return this.all().length === 0;
  }

  add(
    { tenantId, hold, capacity = Infinity }: Omit<NewHold, 'capacity'> & { capacity?: number },
    rooms: number,
    isMeant: (night: Night) => boolean = () => true,
  ): void {
    for (const night of nightsOfHold(tenantId, hold).filter(isMeant)) {
      const sum = this.#sums.get(keyOf(night)) ?? { ...night, rooms: 0, capacity };
      sum.rooms += rooms;
      sum.capacity = Math.min(sum.capacity, capacity);
      this.#sums.set(keyOf(night), sum);
    }
  }

  /** The nights whose sum is not 0. */
  all(): (NightChange & { capacity: number })[] {
    return [...this.#sums.values()].filter(({ rooms }) => rooms !== 0);
  }

  /** Whether the sum of any night of the stay is as asked. */
  isAnyOf({ tenantId, hold }: NewHold, isAsAsked: (sum: NightChange & { capacity: number }) => boolean): boolean {
    return nightsOfHold(tenantId, hold).some((night) => {
      const sum = this.#sums.get(keyOf(night));
      return sum !== undefined && isAsAsked(sum);
    });
  }
}

function nightsOfHold(tenantId: number, { roomTypeId, checkIn, checkOut }: Hold): Night[] {
  return nightsOf(checkIn, checkOut).map((date) => ({ tenantId, roomTypeId, date }));
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
