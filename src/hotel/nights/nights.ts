/** The rooms held on each night. Every change of a night counter goes through this file. */
import type { Database, Tx } from '#platform/db/database.ts';
import { type DateText, nightsOf } from '#platform/lib/dates.ts';
import { batched, type StayRange } from '../rates/rates.ts';
import { changeHeld, type Night, type NightRow, readHeld } from './store.ts';

export { changeHeld, type Night, readHeld } from './store.ts';

/**
 * Releases the nights of `from` and holds the nights of `to`, without a write to the counters of nights in both.
 * @param capacity by default, the number of held rooms is not checked
 * @returns false if an added night has no room left. The caller must then roll back the transaction
 */
export async function moveHold(
  tx: Tx,
  from: StayRange | null,
  to: StayRange | null,
  capacity = Infinity,
): Promise<boolean> {
  const changes = new NightSums();
  if (to !== null) {
    changes.addStay(to, 1, capacity);
  }
  if (from !== null) {
    changes.addStay(from, -1);
  }
  const all = changes.all();
  // The SQL statement of `changeHeld` does not check the capacity of a night that has no row yet, so the capacity is checked here.
  if (all.some((night) => night.held > night.capacity)) {
    return false;
  }
  return (await changeCounters(tx, all)).length === all.length;
}

/**
 * Holds the nights of several stays. If the stays together need more rooms of a night than are left, refuses every stay that includes this
 * night. On a database cluster, all stays must belong to one tenant.
 * @returns the refused stays. No night is held for them
 */
export async function holdNightsOf<Stay extends { hold: StayRange | null; capacity: number }>(
  tx: Tx,
  stays: Stay[],
): Promise<Set<Stay>> {
  const sums = new NightSums();
  const requests = stays.map((stay) => ({
    stay,
    nights: stay.hold === null ? [] : sums.addStay(stay.hold, 1, stay.capacity),
  }));
  // As in `moveHold`: stays that together need more rooms of a night than the room type has are refused here.
  const refused = requests.filter(({ nights }) => nights.some((night) => night.held > night.capacity));
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

async function changeCounters(tx: Tx, changes: NightSum[]): Promise<NightRow[]> {
  const changed = changes.length === 0 ? [] : await changeHeld(tx, changes);
  const negative = changed.find(({ held }) => held < 0);
  if (negative !== undefined) {
    const { tenant_id, room_type_id, date } = negative;
    throw new Error(
      `The night counter of ${date} of the room type ${room_type_id} of tenant ${tenant_id} would fall below 0. ` +
        'This is a fault of the program, because more rooms were released than held. Run "roomservice nights verify".',
    );
  }
  return changed;
}

/** If the hotel changes the capacity between two reads, the smallest capacity that was read counts. */
type NightSum = NightRow & { capacity: number };

class NightSums {
  readonly #sums = new Map<string, NightSum>();

  addStay({ tenant_id, room_type_id, check_in, check_out }: StayRange, rooms: number, capacity = Infinity): NightSum[] {
    return nightsOf(check_in, check_out).map((date) => this.add({ tenant_id, room_type_id, date }, rooms, capacity));
  }

  add(night: Night, rooms: number, capacity = Infinity): NightSum {
    const sum = this.of(night) ?? { ...night, held: 0, capacity };
    sum.held += rooms;
    sum.capacity = Math.min(sum.capacity, capacity);
    this.#sums.set(keyOf(night), sum);
    return sum;
  }

  of(night: Night): NightSum | undefined {
    return this.#sums.get(keyOf(night));
  }

  all(): NightSum[] {
    return [...this.#sums.values()].filter(({ held }) => held !== 0);
  }
}

function keyOf({ tenant_id, room_type_id, date }: Night): string {
  return `${tenant_id} ${room_type_id} ${date}`;
}

export type ReadHeldNights = (range: StayRange) => Promise<{ date: DateText; held: number }[]>;

export function createNightReader(db: Database): ReadHeldNights {
  const readCounters = batched(db, readHeld);
  return async (range) => {
    const held = await readCounters(range);
    return nightsOf(range.check_in, range.check_out).map((date, night) => ({ date, held: held[night] ?? 0 }));
  };
}
