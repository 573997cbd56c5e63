import type { Tx } from '#platform/db/database.ts';
import { type ApiError, apiError } from '#platform/errors.ts';
import { nightsOf } from '#platform/lib/dates.ts';
import { formatMoney } from '#platform/lib/money.ts';
import { checkAmounts, type PlanCalendar, type Quote, quotePlan, readCalendars } from '../rates/rates.ts';
import { type FindRoomType, findRoomType, type RoomTypeWithClock } from '../rooms/rooms.ts';
import { hasMoved } from './changes.ts';
import { checkRange, requireActive } from './checks.ts';
import { checkArrival, checkGuests, cheapest } from './house-booking.ts';
import { priceOf } from './price.ts';
import { sourceOf } from './source.ts';
import type { HouseChange } from './staff-schema.ts';
import type { ReservationRow, ReservationUpdate } from './store.ts';

/** Planned change of a stay that the hotel itself booked. */
interface ChangePlan {
  /** Stay before the change. */
  row: ReservationRow;
  input: HouseChange;
  /** Room type and dates after the change. */
  nights: Pick<ReservationRow, 'room_type_id' | 'check_in' | 'check_out'>;
  /** True if the room type or a date changes. */
  isMoved: boolean;
  /** Currency of the tenant. The stay may have an older currency. */
  currency: string;
}

/**
 * Returns the error for a change that is refused, or null if the stay may change.
 * @param isEnd true if the change ends the stay early, which is allowed for every source
 */
export function changeRefusal(
  row: ReservationRow,
  { expected_changed_at: expected }: HouseChange,
  isEnd: boolean,
): ApiError | null {
  const expectedTime = expected === undefined ? null : Date.parse(expected);
  if (!isEnd && sourceOf(row) !== 'house') {
    return refusal(
      'A partner or an OTA has booked the reservation. Staff may only send an earlier check_out, alone, while it is confirmed or completed. ' +
        'Ask the partner or the OTA for any other change.',
    );
  }
  if (expectedTime !== null && expectedTime !== row.changed_at.getTime()) {
    return refusal('The reservation has changed after the time in expected_changed_at. Read the reservation again.');
  }
  return isEnd || ['pending', 'confirmed'].includes(row.status)
    ? null
    : refusal(
        `The reservation is ${row.status}. Only a pending or confirmed reservation can change. A completed one can only get an earlier check_out, alone.`,
      );
}

function refusal(message: string): ApiError {
  return apiError('invalid_status_transition', message);
}

/** Change of a stay that has passed all checks, except the check that each added night has a room left. */
export interface CheckedChange {
  update: ReservationUpdate;
  /** Number of rooms of the room type after the change. Null if rooms are not checked. */
  capacity: number | null;
}

/**
 * Checks the change of a stay that the hotel itself booked, and prices it.
 * @param currency currency of the tenant
 * @throws ApiError as `StaffStays.change` does
 */
export async function houseChange(
  tx: Tx,
  row: ReservationRow,
  present: RoomTypeWithClock,
  { input, currency }: { input: HouseChange; currency: string },
): Promise<CheckedChange> {
  const nights = {
    room_type_id: input.room_type_id?.toLowerCase() ?? row.room_type_id,
    check_in: input.check_in ?? row.check_in,
    check_out: input.check_out ?? row.check_out,
  };
  checkRange(nights);
  const plan: ChangePlan = { row, input, nights, isMoved: hasMoved(row, nights), currency };
  const find: FindRoomType = async (tenantId, roomTypeId) => await findRoomType(tx, tenantId, roomTypeId);
  const isSameType = nights.room_type_id === row.room_type_id;
  const roomType = isSameType ? present : await requireActive(find, row.tenant_id, nights.room_type_id);
  checkChange(roomType, plan);
  const price = await quoteChange(tx, roomType, plan);
  const update = { ...nights, ...price, ...guestUpdate(row, input), guests: input.guests ?? row.guests };
  return { update, capacity: input.overbook ? null : roomType.physical_capacity };
}

/**
 * Checks the amount, in the currency of the stay. Checks the day of arrival if this day changes. Checks the number of guests if the caller
 * gives this number or changes the room type. If `overbook` is true, never checks the number of guests.
 * @throws ApiError 400 `invalid_request`
 */
function checkChange(roomType: RoomTypeWithClock, { row, input, nights }: ChangePlan): void {
  checkAmounts([['total_amount', input.total_amount]], row.currency);
  if (nights.check_in !== row.check_in) {
    checkArrival(roomType, nights.check_in);
  }
  if (!input.overbook && (input.guests !== undefined || nights.room_type_id !== row.room_type_id)) {
    checkGuests(roomType, input.guests ?? row.guests);
  }
}

/**
 * Returns the rate plan and the price after the change. If the caller gives no amount, the price changes only if the dates or the room type
 * change. A new price from a rate plan is in the currency of the tenant, and an amount of the caller is in the currency of the stay.
 * @throws ApiError 409 `room_not_available` if the dates or the room type change and no rate plan allows the stay
 */
async function quoteChange(tx: Tx, roomType: RoomTypeWithClock, plan: ChangePlan) {
  const { row, input, nights, isMoved } = plan;
  const { total_amount: amount, overbook = false } = input;
  if (!isMoved) {
    const total = amount === undefined ? row.total_amount : formatMoney(String(amount));
    const nightly_prices = total === row.total_amount ? row.nightly_prices : null;
    return { rate_plan_id: row.rate_plan_id, total_amount: total, nightly_prices, currency: row.currency };
  }
  const plans = await readCalendars(tx, row.tenant_id, roomType.id, nights.check_in, nights.check_out);
  const quote = quoteKept(row, plans, nights, overbook) ?? cheapest(roomType, plans, nightsOfRange(nights), overbook);
  const currency = amount === undefined ? plan.currency : row.currency;
  return { rate_plan_id: quote.planId, ...priceOf(quote, currency, amount), currency };
}

/**
 * Returns the price of the changed stay under the rate plan that the stay has now. Returns null if this plan does not allow the changed
 * stay. A closed night is allowed if it was part of the stay before the change.
 */
function quoteKept(
  row: ReservationRow,
  plans: PlanCalendar[],
  nights: ChangePlan['nights'],
  overbook: boolean,
): Quote | null {
  const isSameType = nights.room_type_id === row.room_type_id;
  const plan = isSameType ? plans.find(({ id, isActive }) => isActive && id === row.rate_plan_id) : undefined;
  if (plan === undefined) {
    return null;
  }
  const all = nightsOfRange(nights);
  const kept = new Set(nightsOf(row.check_in, row.check_out));
  const isClosed = all.some((night) => !kept.has(night) && plan.differences.get(night)?.is_sold_out);
  return overbook || (!isClosed && plan.minNights <= all.length) ? quotePlan(plan, all) : null;
}

function nightsOfRange({ check_in, check_out }: ChangePlan['nights']) {
  return nightsOf(check_in, check_out);
}

/** Returns the name, phone and email of the guest after the change. A field that the change does not give keeps its value. */
function guestUpdate(row: ReservationRow, { guest = {} }: HouseChange) {
  const { name = row.guest_name, phone = row.guest_phone, email = row.guest_email } = guest;
  return { guest_name: name, guest_phone: phone, guest_email: email === '' ? null : email };
}
