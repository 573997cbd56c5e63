import type { ReservationStatus } from '#hotel/reservations/reservations.ts';

/** Nights of one room type, from the night of `from` to the night before `to`. A day is a number, and 0 is today at the property. */
export interface Nights {
  roomType: number;
  from: number;
  to: number;
}

export interface Stay extends Nights {
  source: 'partner' | 'ota' | 'house';
  status: ReservationStatus;
  /** Statuses in the events of the stay, in their order. Only a stay of a partner has events. */
  events: ReservationStatus[];
  /** Second of the last applied call of the OTA, and the calls that were applied in this second. */
  second: number;
  applied: string[];
}

/** What the contract says about the nights of one hotel. The stays are keyed by the names that the callers give them. */
export interface Hotel {
  /** Number of rooms of each room type. */
  capacities: readonly number[];
  /** Closed nights, as `nightKey` writes them. */
  closed: ReadonlySet<string>;
  stays: ReadonlyMap<string, Stay>;
}

/** Call to the service. `key` is the name of a stay, and does not exist in the hotel if the call names a stay of another hotel. */
export type Call =
  | ({ do: 'book'; key: string } & Nights)
  | ({ do: 'walk in'; key: string; overbook: boolean } & Nights)
  | ({ do: 'tell'; key: string; status: ReservationStatus; second: number } & Nights)
  | { do: 'cancel'; key: string }
  | { do: 'move'; key: string; status: ReservationStatus }
  | ({ do: 'change'; key: string; overbook?: true } & Partial<Nights>)
  | ({ do: 'close'; isClosed: boolean } & Nights)
  | { do: 'resize'; capacities: readonly number[]; by: 'owner' | 'document' }
  | ({ do: 'look' } & Nights)
  | ({ do: 'quote' } & Nights);

/** Answer that the model expects, as its status with the code or the numbers in its body, and the hotel after the call. */
type Step = [answer: string, after: Hotel];

const INVALID = '400 invalid_request';
const UNKNOWN = '404 error';
const UNKNOWN_ROOM_TYPE = '404 room_type_not_found';
const FULL = '409 room_not_available';
const REFUSED = '409 invalid_status_transition';

/** Rule 23. */
const FOLLOWING: Record<ReservationStatus, ReservationStatus[]> = {
  pending: ['confirmed', 'expired', 'cancelled'],
  confirmed: ['completed', 'no_show', 'cancelled'],
  no_show: ['cancelled'],
  expired: ['cancelled'],
  completed: [],
  cancelled: [],
};

export const nightKey = (roomType: number, day: number) => `${roomType} ${day}`;

export function daysOf({ from, to }: { from: number; to: number }): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** Returns the number of rooms that the stays hold on each night, without the nights that no stay holds. */
export function heldNights({ stays }: Hotel): Record<string, number> {
  const held: Record<string, number> = {};
  for (const stay of stays.values()) {
    for (const day of ['cancelled', 'expired'].includes(stay.status) ? [] : daysOf(stay)) {
      const key = nightKey(stay.roomType, day);
      held[key] = (held[key] ?? 0) + 1;
    }
  }
  return held;
}

/** Makes the call in the model. */
export function step(hotel: Hotel, call: Call): Step {
  switch (call.do) {
    case 'book':
      return book(hotel, call);
    case 'walk in':
      return walkIn(hotel, call);
    case 'tell':
      return tell(hotel, call);
    case 'cancel':
      return cancel(hotel, call.key);
    case 'move':
      return move(hotel, call);
    case 'change':
      return change(hotel, call);
    case 'close':
      return ['200', { ...hotel, closed: closedAfter(hotel, call) }];
    case 'resize':
      return ['200', { ...hotel, capacities: call.capacities }];
    case 'look':
      return [rangeFault(hotel, call) ?? `200 ${sellableOf(hotel, call).join()}`, hotel];
    case 'quote':
      return [saleRefusal(hotel, call, 0) ?? '200', hotel];
  }
}

function book(hotel: Hotel, call: Call & { do: 'book' }): Step {
  if (call.to <= call.from) {
    return [INVALID, hotel];
  }
  const refusal = saleRefusal(hotel, call, 0);
  return hotel.stays.has(call.key) ? ['200', hotel] : refusal === null ? add(hotel, call, 'partner') : [refusal, hotel];
}

function walkIn(hotel: Hotel, call: Call & { do: 'walk in' }): Step {
  const refusal = saleRefusal(hotel, call, -1);
  if (call.to > call.from && hotel.stays.has(call.key)) {
    return ['200', hotel];
  }
  return refusal === null || (refusal === FULL && call.overbook) ? add(hotel, call, 'house') : [refusal, hotel];
}

/** Rule 30: an OTA may oversell, and a call that is outdated or was applied before changes nothing. */
function tell(hotel: Hotel, call: Call & { do: 'tell' }): Step {
  const fault = rangeFault(hotel, call);
  if (fault !== null) {
    return [fault === UNKNOWN_ROOM_TYPE ? UNKNOWN : fault, hotel];
  }
  const { key, second, status, roomType, from, to } = call;
  const body = JSON.stringify([status, roomType, from, to]);
  const stay = hotel.stays.get(key);
  if (stay === undefined) {
    const [answer, after] = add(hotel, call, 'ota');
    return [answer, put(after, key, { status, second, applied: [body] })];
  }
  if (second < stay.second || (second === stay.second && stay.applied.includes(body))) {
    return ['200', hotel];
  }
  const applied = second === stay.second ? [...stay.applied, body] : [body];
  return ['200', put(hotel, key, { status, roomType, from, to, second, applied })];
}

function cancel(hotel: Hotel, key: string): Step {
  const stay = hotel.stays.get(key);
  if (stay === undefined) {
    return ['404 reservation_not_found', hotel];
  }
  const isFinal = ['cancelled', 'completed'].includes(stay.status);
  return isFinal ? [REFUSED, hotel] : ['200', withStatus(hotel, key, 'cancelled')];
}

function move(hotel: Hotel, { key, status }: Call & { do: 'move' }): Step {
  const stay = hotel.stays.get(key);
  if (stay === undefined) {
    return [UNKNOWN, hotel];
  }
  return FOLLOWING[stay.status].includes(status) ? ['200', withStatus(hotel, key, status)] : [REFUSED, hotel];
}

function change(hotel: Hotel, call: Call & { do: 'change' }): Step {
  const stay = hotel.stays.get(call.key);
  if (stay === undefined) {
    return [UNKNOWN, hotel];
  }
  const { roomType = stay.roomType, from = stay.from, to = stay.to } = call;
  const nights = { roomType, from, to };
  const isEnd = isEarlyEnd(stay, call);
  const mayChange = isEnd || (stay.source === 'house' && ['pending', 'confirmed'].includes(stay.status));
  const refusal = mayChange ? (isEnd ? endRefusal : changeRefusal)(hotel, stay, nights, call.overbook) : REFUSED;
  return refusal === null ? ['200', put(hotel, call.key, nights)] : [refusal, hotel];
}

/** Rule 36: staff may end a stay of any source early, if the call names nothing but the day of departure. */
function isEarlyEnd(stay: Stay, { roomType, from, to, overbook }: Call & { do: 'change' }): boolean {
  if (to === undefined || to > stay.to || roomType !== undefined || from !== undefined || overbook !== undefined) {
    return false;
  }
  const hasBegun = stay.from <= 0 && to >= 0;
  return stay.status === 'completed' || (stay.status === 'confirmed' && (stay.source !== 'house' || hasBegun));
}

function endRefusal(_hotel: Hotel, stay: Stay, { to }: Nights): string | null {
  return to !== stay.to && (to <= stay.from || to < 0) ? INVALID : null;
}

function changeRefusal(hotel: Hotel, stay: Stay, nights: Nights, overbook = false): string | null {
  const fault = rangeFault(hotel, nights);
  if (fault !== null) {
    return fault;
  }
  if (nights.from !== stay.from && nights.from < -1) {
    return INVALID;
  }
  const isKept = (day: number) => nights.roomType === stay.roomType && day >= stay.from && day < stay.to;
  return !overbook && isUnavailable(hotel, nights, (day) => !isKept(day)) ? FULL : null;
}

/** Returns the refusal of a new stay, or null. `earliest` is the earliest day of arrival. */
function saleRefusal(hotel: Hotel, nights: Nights, earliest: number): string | null {
  const fault = rangeFault(hotel, nights);
  if (fault !== null) {
    return fault;
  }
  return nights.from < earliest ? INVALID : isUnavailable(hotel, nights, () => true) ? FULL : null;
}

function rangeFault(hotel: Hotel, { roomType, from, to }: Nights): string | null {
  return to <= from ? INVALID : roomType < hotel.capacities.length ? null : UNKNOWN_ROOM_TYPE;
}

/** Returns true if a night that `isAdded` selects is closed, or has no room left. */
function isUnavailable(hotel: Hotel, nights: Nights, isAdded: (day: number) => boolean): boolean {
  const held = heldNights(hotel);
  const { roomType } = nights;
  return daysOf(nights)
    .filter(isAdded)
    .some((day) => {
      const key = nightKey(roomType, day);
      return hotel.closed.has(key) || (held[key] ?? 0) >= (hotel.capacities[roomType] ?? 0);
    });
}

/** Returns the number of sellable rooms of each night. Only an oversold night has a negative number (rule 24). */
function sellableOf(hotel: Hotel, nights: Nights): number[] {
  const held = heldNights(hotel);
  return daysOf(nights).map((day) => {
    const key = nightKey(nights.roomType, day);
    const left = (hotel.capacities[nights.roomType] ?? 0) - (held[key] ?? 0);
    return hotel.closed.has(key) ? Math.min(0, left) : left;
  });
}

function closedAfter({ closed }: Hotel, { roomType, isClosed, ...range }: Call & { do: 'close' }): Set<string> {
  const given = new Set(daysOf(range).map((day) => nightKey(roomType, day)));
  return isClosed ? closed.union(given) : closed.difference(given);
}

function add(hotel: Hotel, { key, roomType, from, to }: Nights & { key: string }, source: Stay['source']): Step {
  const events: ReservationStatus[] = source === 'partner' ? ['confirmed'] : [];
  const stay: Stay = { roomType, from, to, source, status: 'confirmed', events, second: 0, applied: [] };
  return ['201', put(hotel, key, stay)];
}

function put(hotel: Hotel, key: string, values: Partial<Stay>): Hotel {
  const stay = { ...hotel.stays.get(key), ...values } as Stay;
  return { ...hotel, stays: new Map(hotel.stays).set(key, stay) };
}

function withStatus(hotel: Hotel, key: string, status: ReservationStatus): Hotel {
  const { source, events } = hotel.stays.get(key) as Stay;
  return put(hotel, key, { status, events: source === 'partner' ? [...events, status] : events });
}
