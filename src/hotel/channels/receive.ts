import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { notFound } from '#platform/errors.ts';
import { nightsOf } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import { decimalText } from '#platform/lib/price.ts';
import { newNaturalId } from '#platform/lib/natural-id.ts';
import { type PlanCalendar, type Quote, quoteCheapest, quotePlan, readCalendars } from '../rates/rates.ts';
import {
  checkRange,
  hasMoved,
  priceOf,
  type PmsReservation,
  pmsShape,
  type ReservationRow,
  type Reservations,
  type WantedChange,
  wantedChange,
} from '../reservations/reservations.ts';
import { findRoomType, type RoomTypeWithClock } from '../rooms/rooms.ts';
import type { ChannelCall } from './channel-call.ts';
import type { OtaReservation } from './schema.ts';

interface Dependencies {
  db: Database;
  reservations: Reservations;
}

/** Reservation that a call requests, with the room type and the rate plans to which it refers. */
interface RequestedStay {
  input: OtaReservation;
  roomType: RoomTypeWithClock;
  /** All rate plans of the room type, active or not. */
  plans: PlanCalendar[];
  /** Rate plan that the call names. Undefined if the call names no plan. */
  plan: PlanCalendar | undefined;
  wanted: WantedChange;
}

/**
 * Creates or changes a reservation of an OTA. The name of the OTA (`source` of the channel) and the external id in the call identify the
 * reservation. The reservation is accepted even if no room is left. A call that was applied before, or that is older than the last applied
 * call for the reservation, changes nothing (decision 30).
 * @throws ApiError 404 (code `error`) for an unknown room type or rate plan, and for a new reservation in an inactive room type
 * @throws ApiError 400 `invalid_request` if the check-out is not after the check-in, or if the stay has more than 730 nights
 */
export async function receiveReservation(
  { db, reservations }: Dependencies,
  call: ChannelCall,
  input: OtaReservation,
): Promise<{ reservation: PmsReservation; isNew: boolean }> {
  checkRange(input);
  const roomType = await findRoomType(db, call.tenantId, input.room_type_id);
  if (roomType === null) {
    throw notFound('room type');
  }
  const plans = await readCalendars(db, call.tenantId, roomType.id, input.check_in, input.check_out);
  const plan = plans.find(({ id }) => id === input.rate_plan_id?.toLowerCase());
  if (plan === undefined && input.rate_plan_id) {
    throw notFound('rate plan');
  }
  const requested = { input, roomType, plans, plan, wanted: wantedChange({ type: 'channel', id: call.channelId }) };
  const id = newId();
  const row = await inTransaction(db, async (tx) => await apply(tx, reservations, call, requested, id));
  // The response to an outdated call shows the stored reservation, which may have another room type than the call. So the check-in and
  // check-out times in the response come from the hotel property that has the room type of the stored reservation.
  const clock = row.room_type_id === roomType.id ? roomType : await findRoomType(db, call.tenantId, row.room_type_id);
  return { reservation: pmsShape(row, clock ?? roomType), isNew: row.id === id };
}

/**
 * Changes the reservation, or inserts it if it does not exist. If a concurrent call inserts the reservation first, this call inserts no
 * row. The loop then runs again, and changes the reservation of the concurrent call.
 */
async function apply(
  tx: Tx,
  reservations: Reservations,
  call: ChannelCall,
  requested: RequestedStay,
  id: string,
): Promise<ReservationRow> {
  for (;;) {
    const row = await reservations.lockBySource(tx, call.tenantId, call.source, requested.input.external_id);
    if (row !== undefined) {
      return isOutdated(row, call)
        ? row
        : await reservations.change(tx, row, changesOf(row, call, requested), requested.wanted, null);
    }
    if (!requested.roomType.is_active) {
      throw notFound('room type');
    }
    const created = await reservations.add(tx, creationOf(call, requested, id));
    if (created !== null) {
      return created;
    }
  }
}

/**
 * Returns true if the call is older than the last applied call, or was applied before. Timestamps are in whole seconds, so two different
 * calls may have the same timestamp. To distinguish these calls, the row stores the signatures of all applied calls with the latest
 * timestamp. A call with a stored signature was applied before.
 */
function isOutdated(row: ReservationRow, call: ChannelCall): boolean {
  const latest = row.channel_timestamp ?? 0;
  return call.timestamp < latest || (call.timestamp === latest && signaturesOf(row).includes(call.signature));
}

function signaturesOf(row: ReservationRow): string[] {
  return row.channel_signatures ?? [];
}

function creationOf(call: ChannelCall, requested: RequestedStay, id: string) {
  const { input } = requested;
  const quote = quoteOf(requested);
  return {
    tenant_id: call.tenantId,
    id,
    natural_id: newNaturalId(),
    external_source: call.source,
    external_id: input.external_id,
    rate_plan_id: quote.planId,
    guests: input.guests || 1,
    ...priceOf(quote, call.currency, soldTotal(input)),
    currency: call.currency,
    created_at: new Date(),
    channel_timestamp: call.timestamp,
    channel_signatures: [call.signature],
    ...stayOf(requested),
  };
}

/**
 * Returns the new values of the reservation. These rules apply:
 * - If the call has no amount, no number of guests or no rate plan, the stored value stays. But if the call changes the room type and names
 *   no rate plan, the rate plan becomes null, because the stored plan belongs to the old room type.
 * - If the room type, the nights or the amount change, the nightly prices become null, because they are unknown.
 * - If the status changes, `status_request_id` becomes null. This column has the id that staff sent with the last change of the status, and
 *   an OTA sends no such id.
 */
function changesOf(row: ReservationRow, call: ChannelCall, requested: RequestedStay) {
  const { input, roomType, plan } = requested;
  const isSameSecond = call.timestamp === row.channel_timestamp;
  const keptPlan = roomType.id === row.room_type_id ? row.rate_plan_id : null;
  const sold = soldTotal(input);
  const total = sold === undefined ? row.total_amount : formatMoney(sold, row.currency);
  const stay = stayOf(requested);
  return {
    rate_plan_id: plan?.id ?? keptPlan,
    guests: input.guests || row.guests,
    total_amount: total,
    nightly_prices: hasMoved(row, stay) || total !== row.total_amount ? null : row.nightly_prices,
    channel_timestamp: call.timestamp,
    channel_signatures: [...(isSameSecond ? signaturesOf(row) : []), call.signature],
    status_request_id: input.status === row.status ? row.status_request_id : null,
    ...stay,
  };
}

function stayOf({ input, roomType }: RequestedStay) {
  return {
    status: input.status,
    room_type_id: roomType.id,
    check_in: input.check_in,
    check_out: input.check_out,
    ...guestOf(input.guest),
  };
}

/** Returns the amount of the call as a decimal text, or undefined if the call has no amount. */
function soldTotal({ total_amount: amount }: OtaReservation): string | undefined {
  return amount === undefined || amount === null || amount === '' ? undefined : decimalText(amount);
}

const MAX_NAME = 500;
const MAX_PHONE = 20;
const MAX_EMAIL = 254;

/**
 * Returns the guest as columns of the row. The OTA has sold the stay, so a text that is too long does not refuse the call. A name and a
 * telephone number are cut. An e-mail address is left out, because a part of it would be a wrong address.
 */
function guestOf({ full_name, phone, email }: OtaReservation['guest']) {
  const address = email?.trim() ?? '';
  return {
    guest_name: cut(full_name, MAX_NAME),
    guest_phone: cut(phone?.trim() ?? '', MAX_PHONE) || null,
    guest_email: address === '' || address !== cut(address, MAX_EMAIL) ? null : address,
  };
}

/** Returns the first characters of a text. A character is a Unicode code point, so no surrogate pair is cut in two. */
function cut(text: string, maxLength: number): string {
  return Array.from(text).slice(0, maxLength).join('');
}

/**
 * Returns the price under the rate plan that the OTA names. If the OTA names no plan, the cheapest plan gives the price. The same rule
 * applies to a stay that a partner books over the third-party API without a plan. The function ignores closed nights and minimum stays,
 * because the OTA has already sold the stay.
 */
function quoteOf({ input, roomType, plans, plan }: RequestedStay): Quote {
  const nights = nightsOf(input.check_in, input.check_out);
  const quote = plan ? quotePlan(plan, nights) : quoteCheapest(plans, nights, roomType.base_price, 'ignore');
  if (quote === null) {
    throw new Error(
      'The service found no price for a stay from an OTA, although it ignores closed nights and minimum stays.',
    );
  }
  return quote;
}
