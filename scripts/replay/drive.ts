import { type Booking, capacityFor, NightCount, type Step, stepsOf } from './bookings.ts';

/** The service as the replay sees it: one call, JSON in and out. */
export type Call = (
  method: string,
  path: string,
  headers: Record<string, string>,
  json?: unknown,
) => Promise<{ status: number; body: unknown }>;

type Headers = Record<string, string>;

/** Whose headers the steps go under: the platform books and cancels, the front desk completes. */
export interface Actors {
  partner: Headers;
  staff: Headers;
  pms: Headers;
}

/** One room type of one hotel: nothing that happens in it touches another, so lanes run side by side, each in its order. */
export interface Lane {
  hotel: string;
  roomType: string;
  capacity: number;
  steps: Step[];
}

export interface Tally {
  created: number;
  refused: number;
  cancelled: number;
  completed: number;
  noShow: number;
  /** Stays of no nights, which the file has some of: 400. */
  withoutNights: number;
  oversoldNights: number;
  nightsCompared: number;
  /** Whatever is not as it must be; empty after a good replay. */
  faults: string[];
}

export function newTally(): Tally {
  return {
    created: 0,
    refused: 0,
    cancelled: 0,
    completed: 0,
    noShow: 0,
    withoutNights: 0,
    oversoldNights: 0,
    nightsCompared: 0,
    faults: [],
  };
}

export function lanesOf(bookings: Booking[]): Lane[] {
  const byLane = Map.groupBy(bookings, ({ hotel, roomType }) => `${hotel} ${roomType}`);
  return [...byLane.values()].flatMap((own) => {
    const steps = stepsOf(own);
    const first = own[0];
    return first ? [{ hotel: first.hotel, roomType: first.roomType, capacity: capacityFor(steps), steps }] : [];
  });
}

/** The hotels of the lanes as the `properties` part of a tenant document. */
export function propertiesOf(lanes: Lane[]) {
  return [...Map.groupBy(lanes, (lane) => lane.hotel)].map(([hotel, own]) => ({
    name: hotel,
    country_code: 'PT',
    timezone: 'Europe/Lisbon',
    room_types: own.map(({ roomType, capacity }) => ({
      name: roomType,
      max_occupancy: 100,
      base_price: '80.00',
      physical_capacity: capacity,
    })),
  }));
}

/** Drives one lane's bookings through the API in their order, holding every answer against an own count of the nights. */
export async function driveLane(
  call: Call,
  actors: Actors,
  lane: Lane,
  roomTypeId: string,
  tally: Tally,
  onStep: () => void,
): Promise<void> {
  const count = new NightCount();
  const held = new Map<number, string>();
  for (const { kind, booking } of lane.steps) {
    if (kind === 'create') {
      await create(call, actors, lane, roomTypeId, booking, { count, held, tally });
    } else if (held.has(booking.line)) {
      await finish(call, actors, booking, { count, held, tally });
    }
    onStep();
  }
  await compare(call, actors, lane, roomTypeId, count, tally);
}

interface State {
  count: NightCount;
  /** Ids of the reservations that were created, by the booking's line. */
  held: Map<number, string>;
  tally: Tally;
}

const externalId = (booking: Booking) => `booking-${booking.line}`;

async function create(
  call: Call,
  actors: Actors,
  lane: Lane,
  roomTypeId: string,
  booking: Booking,
  { count, held, tally }: State,
): Promise<void> {
  const { status, body } = await call('POST', '/v1/third-party/hotels/reservations/', actors.partner, {
    external_reservation_id: externalId(booking),
    room_type_id: roomTypeId,
    check_in: booking.checkIn,
    check_out: booking.checkOut,
    guests: booking.guests,
    guest: { name: `Guest ${booking.line}`, phone: '+351 000' },
  });
  const isWithoutNights = booking.checkOut <= booking.checkIn;
  const isFull = count.peak(booking) >= lane.capacity;
  const expected = isWithoutNights ? 400 : isFull ? 409 : 201;
  if (status !== expected) {
    tally.faults.push(`booking ${booking.line}: ${status} where ${expected} was due`);
  }
  if (status === 201) {
    count.add(booking, 1);
    held.set(booking.line, (body as { reservation_id: string }).reservation_id);
    tally.created += 1;
  } else if (status === 409) {
    tally.refused += 1;
  } else if (status === 400) {
    tally.withoutNights += 1;
  }
}

async function finish(call: Call, actors: Actors, booking: Booking, { count, held, tally }: State): Promise<void> {
  if (booking.finalStatus === 'Canceled') {
    const path = `/v1/third-party/hotels/reservations/${externalId(booking)}/cancel/`;
    expectOk(tally, booking, await call('POST', path, actors.partner));
    count.add(booking, -1);
    tally.cancelled += 1;
    return;
  }
  const status = booking.finalStatus === 'No-Show' ? 'no_show' : 'completed';
  const path = `/v1/staff/reservations/${held.get(booking.line)}/status/`;
  expectOk(tally, booking, await call('POST', path, actors.staff, { status }));
  tally[status === 'no_show' ? 'noShow' : 'completed'] += 1;
}

function expectOk(tally: Tally, booking: Booking, answer: { status: number }): void {
  if (answer.status !== 200) {
    tally.faults.push(`booking ${booking.line}: ${answer.status} at its end where 200 was due`);
  }
}

const MAX_RANGE_DAYS = 730;
const DAY_MS = 86_400_000;

/** Holds the inventory the service shows against the own count, night by night. */
async function compare(
  call: Call,
  actors: Actors,
  lane: Lane,
  roomTypeId: string,
  count: NightCount,
  tally: Tally,
): Promise<void> {
  const nights = count.nights();
  const last = nights.at(-1) ?? '';
  let from = nights[0] ?? '9999-12-31';
  while (from <= last) {
    const until = new Date(Date.parse(from) + MAX_RANGE_DAYS * DAY_MS).toISOString().slice(0, 10);
    const query = new URLSearchParams({ room_type_id: roomTypeId, check_in: from, check_out: until });
    const { body } = await call('GET', `/v1/channel-manager/pms/inventory/?${query}`, actors.pms);
    for (const night of body as { date: string; sellable: number }[]) {
      tally.nightsCompared += 1;
      tally.oversoldNights += night.sellable < 0 ? 1 : 0;
      if (lane.capacity - night.sellable !== count.on(night.date)) {
        tally.faults.push(`${lane.hotel} ${lane.roomType} ${night.date}: ${lane.capacity - night.sellable} held`);
      }
    }
    from = until;
  }
}
