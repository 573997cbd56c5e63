import type { Database, Tx } from '#platform/db/database.ts';
import { type ApiError, apiError, orNotFound, invalidField, notFound } from '#platform/errors.ts';
import { addDays, countNights, type DateText, MAX_NIGHTS, nightsOf, todayIn } from '#platform/lib/dates.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import {
  type PlanCalendar,
  type Quote,
  quoteCheapest,
  type RateReader,
  roundedQuote,
  type StayRange,
} from '../rates/rates.ts';
import type { FindRoomType, RoomTypeWithClock } from '../rooms/rooms.ts';
import { findForStaff, type LabelledRow } from './list-store.ts';
import type { ReservationSource } from './reservation-status.ts';
import { lockReservation, type ReservationRow } from './store.ts';

export type Range = Pick<StayRange, 'check_in' | 'check_out'>;

export interface RequestedStay extends Range {
  room_type_id: string;
  /** If it is missing, the cheapest one that allows the stay applies. */
  rate_plan_id?: string | null | undefined;
  /** Default: 1. */
  guests?: number | undefined;
}

/** @throws ApiError 400 `invalid_request` if the range is empty, reversed or longer than 730 nights (rule 7) */
export function checkRange({ check_in, check_out }: Range): void {
  const nights = countNights(check_in, check_out);
  if (nights < 1) {
    throw invalidField('check_out', 'must be after check_in');
  }
  if (nights > MAX_NIGHTS) {
    throw invalidField('check_out', `must be at most ${MAX_NIGHTS} nights after check_in`);
  }
}

export function requireActive(roomType: RoomTypeWithClock | undefined, refusal = roomTypeNotFound): RoomTypeWithClock {
  if (!roomType?.is_active) {
    throw refusal();
  }
  return roomType;
}

function roomTypeNotFound(): ApiError {
  return apiError(
    'room_type_not_found',
    'The hotel has no active room type with this room_type_id. Read the list of room types, and use an id from it.',
  );
}

/** @throws ApiError 400 `invalid_request` */
export function checkArrival({ timezone }: RoomTypeWithClock, checkIn: DateText, first: 'today' | 'yesterday'): void {
  const day = addDays(todayIn(timezone), first === 'today' ? 0 : -1);
  if (checkIn < day) {
    throw invalidField('check_in', `must not be before ${first} at the property, which is ${day}`);
  }
}

/** @throws ApiError 400 `invalid_request` */
export function checkGuests(roomType: RoomTypeWithClock, guests: number): void {
  if (guests > roomType.max_occupancy) {
    throw invalidField('guests', `must be at most ${roomType.max_occupancy} in this room type`);
  }
}

export function nightFull(): ApiError {
  return apiError('room_not_available', 'A night of the stay is full. Offer other dates or another room type.');
}

function noPlanFits(): ApiError {
  return apiError(
    'room_not_available',
    'No rate plan is open on all nights and allows a stay of this length. Offer other dates or another room type.',
  );
}

/**
 * Checks that a new stay may be sold, and prices it. Does not check that rooms are left. With `overbook`, the restrictions of the rate
 * plans and the number of guests are not checked.
 * @throws ApiError 404 `room_type_not_found` (for an OTA, 404 with the code `error`), 404 (code `error`) for an unknown rate plan, 400
 * `invalid_request`, 409 `room_not_available`
 */
export async function sellStay(
  { findRoomType, rates }: { findRoomType: FindRoomType; rates: RateReader },
  { tenantId, type }: { tenantId: number; type: ReservationSource },
  stay: RequestedStay,
  overbook = false,
): Promise<{ roomType: RoomTypeWithClock; quote: Quote }> {
  const { room_type_id, check_in, check_out, guests = 1 } = stay;
  const refusal = type === 'ota' ? () => notFound('room type') : undefined;
  const roomType = requireActive(await findRoomType(tenantId, room_type_id), refusal);
  if (type !== 'ota') {
    checkArrival(roomType, check_in, type === 'house' ? 'yesterday' : 'today');
  }
  if (!overbook) {
    checkGuests(roomType, guests);
  }
  const plans = await rates.readCalendars({ tenant_id: tenantId, room_type_id, check_in, check_out });
  const named = stay.rate_plan_id?.toLowerCase();
  const plan = plans.find(({ id, is_active }) => id === named && (is_active || type === 'ota'));
  if (named && plan === undefined) {
    throw notFound('rate plan of this room type');
  }
  return { roomType, quote: priceStay(roomType, plans, { ...stay, plan }, overbook) };
}

/** @throws ApiError 409 `room_not_available` if the plan does not allow the stay, or if no plan allows it */
export function priceStay(
  roomType: RoomTypeWithClock,
  plans: PlanCalendar[],
  { check_in, check_out, plan }: Range & { plan?: PlanCalendar | undefined },
  overbook: boolean,
): Quote {
  const offered = plan === undefined ? plans.filter(({ is_active }) => is_active) : [plan];
  const quote = quoteCheapest(offered, nightsOf(check_in, check_out), roomType.base_price, overbook);
  if (quote === null) {
    throw noPlanFits();
  }
  return quote;
}

/** If the caller gives the amount of the whole stay, the prices of the nights are unknown. */
export function priceOf(quote: Quote, currency: string, amount?: string | number) {
  if (amount !== undefined) {
    return { total_amount: formatMoney(String(amount), currency), nightly_prices: null };
  }
  const { nights, total_amount } = roundedQuote(quote, currency);
  return { total_amount, nightly_prices: nights.map(({ price }) => price) };
}

/** @throws ApiError 404 (code `error`) if the id is unknown */
export async function findStay(db: Database, tenantId: number, id: string): Promise<LabelledRow> {
  return orNotFound(isUuid(id) ? await findForStaff(db, tenantId, id) : undefined, 'reservation');
}

/** @throws ApiError 404 (code `error`) if the id is unknown */
export async function lockStay(tx: Tx, tenantId: number, id: string): Promise<ReservationRow> {
  return orNotFound(isUuid(id) ? await lockReservation(tx, tenantId, id) : undefined, 'reservation');
}
