import { type Booking, dayAfter, nightsOf } from './bookings.ts';
import { type Actors, type Driven, externalIdOf, type Outcome, RESERVATIONS } from './drive.ts';

export interface Verdict {
  nightsCompared: number;
  oversoldNights: number;
  /** Descriptions of all differences. The list is empty if the service agrees with the bookings. */
  faults: string[];
}

const NOTHING_HELD: readonly Outcome[] = ['refused', 'without nights', 'cancelled'];
/** Largest number of nights that one inventory response of the service may have. */
const MAX_RANGE_DAYS = 730;

/**
 * Compares the final state of the service with the bookings of the file. The inventory of every night must agree with the number of
 * accepted stays that were not cancelled. The partner's list of reservations must have every accepted stay with its final status.
 */
export async function verify(actors: Actors, all: Driven[]): Promise<Verdict> {
  const faults = await compareList(actors, all);
  const verdict = { nightsCompared: 0, oversoldNights: 0, faults };
  for (const driven of all) {
    const counted = countNights(driven);
    for (const night of await readInventory(actors, driven)) {
      const held = counted.get(night.date) ?? 0;
      verdict.nightsCompared += 1;
      verdict.oversoldNights += night.sellable < 0 ? 1 : 0;
      if (night.physical_capacity !== driven.lane.capacity || night.physical_capacity - night.sellable !== held) {
        const { hotel, roomType } = driven.lane;
        faults.push(
          `${hotel} ${roomType} ${night.date}: the service shows ${JSON.stringify(night)}, but ${held} rooms are held`,
        );
      }
    }
  }
  return verdict;
}

function bookingsOf({ lane }: Driven): Booking[] {
  return lane.steps.filter(({ kind }) => kind === 'create').map(({ booking }) => booking);
}

function countNights(driven: Driven): Map<string, number> {
  const held = bookingsOf(driven).filter(({ line }) => !NOTHING_HELD.includes(driven.outcomes.get(line) ?? 'refused'));
  const nights = Map.groupBy(held.flatMap(nightsOf), (night) => night);
  return new Map([...nights].map(([night, stays]) => [night, stays.length]));
}

/** Reads the inventory of a lane (one room type) for every night from its first arrival to its last departure. */
async function readInventory({ call, pms }: Actors, driven: Driven) {
  const days = bookingsOf(driven).flatMap(({ checkIn, checkOut }) => [checkIn, checkOut]);
  const nights: { date: string; physical_capacity: number; sellable: number }[] = [];
  const [first = '', ...others] = days.toSorted();
  const end = dayAfter(others.at(-1) ?? first, 1);
  for (let from = first; from < end; from = dayAfter(from, MAX_RANGE_DAYS)) {
    const until = [dayAfter(from, MAX_RANGE_DAYS), end].toSorted()[0] ?? end;
    const query = `room_type_id=${driven.roomTypeId}&check_in=${from}&check_out=${until}`;
    const { body } = await call('GET', `/v1/channel-manager/pms/inventory/?${query}`, { headers: pms });
    nights.push(...(body as typeof nights));
  }
  return nights;
}

async function compareList({ call, partner }: Actors, all: Driven[]): Promise<string[]> {
  const { body } = await call('GET', RESERVATIONS, { headers: partner });
  const listed = (body as Record<string, string>[]).map(
    (stay) =>
      `${stay['external_reservation_id']} ${stay['room_type_id']} ${stay['check_in']} ${stay['check_out']} ${stay['status']}`,
  );
  const due = all.flatMap((driven) =>
    bookingsOf(driven)
      .map((booking) => ({ booking, outcome: driven.outcomes.get(booking.line) ?? 'refused' }))
      .filter(({ outcome }) => outcome !== 'refused' && outcome !== 'without nights')
      .map(
        ({ booking, outcome }) =>
          `${externalIdOf(booking)} ${driven.roomTypeId} ${booking.checkIn} ${booking.checkOut} ${outcome}`,
      ),
  );
  const [shown, wanted] = [new Set(listed), new Set(due)];
  return [
    ...listed.filter((stay) => !wanted.has(stay)).map((stay) => `listed, but not expected: ${stay}`),
    ...due.filter((stay) => !shown.has(stay)).map((stay) => `expected, but not listed: ${stay}`),
    ...(listed.length === shown.size ? [] : ['a reservation is listed twice']),
  ];
}
