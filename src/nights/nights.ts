import { batching } from '../db/batching.ts';
import type { Database, Tx } from '../db/database.ts';
import { type DateText, nightsOf } from '../lib/dates.ts';
import { changeHeld, type HeldNights, holdNights, type Night, type NightRange, readHeld } from './store.ts';

export { type NightDifference, type NightRange, recount } from './store.ts';

/** Rooms of a type taken for the nights of a stay; null where a reservation holds none. */
export interface Hold {
  roomTypeId: string;
  checkIn: DateText;
  checkOut: DateText;
}

/**
 * Moves a reservation's hold from one stay to another, either of which may be none: the one way the counters of nights change,
 * whoever asks. Nights that both stays share are not touched; the others are locked by room type and date, so that no two
 * writers can wait for each other.
 * @param capacity the most rooms that may be held on a night afterwards; null where the stay is taken whatever is left
 * @returns false where a night is full; the transaction must then be rolled back
 */
export async function moveHold(
  tx: Tx,
  tenantId: number,
  from: Hold | null,
  to: Hold | null,
  capacity: number | null,
): Promise<boolean> {
  const changes = differences(from, to);
  if (changes.length === 0) {
    return true;
  }
  if (capacity !== null && capacity < 1) {
    return false;
  }
  const held = await changeHeld(tx, tenantId, changes, capacity);
  if (held.some((rooms) => rooms < 0)) {
    throw new Error('a night was given back twice');
  }
  return held.length === changes.length;
}

/** A stay that wants its nights. */
export interface NewHold {
  tenantId: number;
  hold: Hold;
  /** The most rooms of the type that may be held on a night. */
  capacity: number;
}

/**
 * Takes the nights of several stays, of any tenants, at once (on one node alone).
 * @returns the stays that want a night which has not enough left for all of them; the transaction must then be rolled back
 */
export async function holdTogether<Stay extends NewHold>(tx: Tx, stays: Stay[]): Promise<Set<Stay>> {
  const wanted = new Map<string, Night & { stays: Stay[] }>();
  for (const stay of stays) {
    const { tenantId, hold } = stay;
    for (const date of nightsOf(hold.checkIn, hold.checkOut)) {
      const night = { tenantId, roomTypeId: hold.roomTypeId, date };
      const known = wanted.get(keyOf(night)) ?? { ...night, stays: [] };
      known.stays.push(stay);
      wanted.set(keyOf(night), known);
    }
  }
  const nights = [...wanted.values()];
  // Looked at before, because a night that has no row yet takes whatever is wanted.
  const scarce = nights.filter((night) => night.stays.some(({ capacity }) => night.stays.length > capacity));
  const full = nights.length === 0 || scarce.length > 0 ? scarce : await fullAmong(tx, nights);
  return new Set(full.flatMap((night) => night.stays));
}

/** Takes as many rooms on each night as there are stays. @returns the nights that had not so many left */
async function fullAmong<Wanted extends Night & { stays: NewHold[] }>(tx: Tx, nights: Wanted[]): Promise<Wanted[]> {
  const held = await holdNights(
    tx,
    nights.map(({ stays, ...night }) => ({ ...night, rooms: stays.length })),
  );
  const keys = new Set(held.map(keyOf));
  return nights.filter((night) => !keys.has(keyOf(night)));
}

function keyOf({ tenantId, roomTypeId, date }: Night): string {
  return `${tenantId} ${roomTypeId} ${date}`;
}

function differences(from: Hold | null, to: Hold | null) {
  const changes = new Map<string, { roomTypeId: string; date: DateText; change: number }>();
  const add = (hold: Hold | null, by: number) => {
    for (const date of hold === null ? [] : nightsOf(hold.checkIn, hold.checkOut)) {
      const key = `${hold?.roomTypeId} ${date}`;
      const change = (changes.get(key)?.change ?? 0) + by;
      changes.set(key, { roomTypeId: hold?.roomTypeId ?? '', date, change });
    }
  };
  add(from, -1);
  add(to, 1);
  return [...changes.entries()]
    .filter(([, { change }]) => change !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, change]) => change);
}

/** Rooms held on every night of the range, in its order; 0 where none is. */
export type ReadHeldNights = (range: NightRange) => Promise<{ date: DateText; held: number }[]>;

/** While the database works on one statement, the answers to another are made. */
const LOOK_UPS_UNDER_WAY = 2;

/** @param batchSize calls that may go as one statement (`batchSizeOf`) */
export function createNightReader({ db, batchSize }: { db: Database; batchSize: number }): ReadHeldNights {
  const readCounters = batching({
    one: async (range: NightRange) => (await readHeld(db, [range]))[0],
    many: (ranges) => readHeld(db, ranges),
    maxSize: batchSize,
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
