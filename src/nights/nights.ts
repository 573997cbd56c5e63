import type { Database, Tx } from '../db/database.ts';
import { type DateText, nightsOf } from '../lib/dates.ts';
import { changeHeld, readHeld } from './store.ts';

export { type NightDifference, recount } from './store.ts';

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
export async function readHeldNights(
  db: Database,
  tenantId: number,
  { roomTypeId, checkIn, checkOut }: Hold,
): Promise<{ date: DateText; held: number }[]> {
  const rows = await readHeld(db, tenantId, roomTypeId, checkIn, checkOut);
  const byDate = new Map(rows.map((row) => [row.date, row.held]));
  return nightsOf(checkIn, checkOut).map((date) => ({ date, held: byDate.get(date) ?? 0 }));
}
