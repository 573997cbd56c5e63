import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalidField, notFound, orNotFound } from '#platform/errors.ts';
import { centsOf, exceedsMaximum, formatMoney } from '#platform/lib/money.ts';
import { decimalText } from '#platform/lib/price.ts';
import { readCalendars } from '../rates/rates.ts';
import {
  type BookingSource,
  checkRange,
  findBooked,
  hasMoved,
  lockStay,
  type PmsReservation,
  pmsShape,
  type ReservationRow,
  type Reservations,
  type StayInput,
  wantedChange,
  writeChange,
} from '../reservations/reservations.ts';
import type { Feature } from '#access/tenants/tenants.ts';
import { findRoomType } from '../rooms/rooms.ts';
import type { OtaReservation } from './schema.ts';

export interface ChannelCall {
  tenantId: number;
  channelId: string;
  source: string;
  features: Feature[];
  currency: string;
  /** Timestamp that the OTA signed, in Unix seconds. */
  timestamp: number;
  signature: string;
}

/**
 * Creates or changes a reservation of an OTA, even if no room is left. A call that was applied before, or that is older than the last
 * applied call for the reservation, changes nothing (rule 30).
 * @throws ApiError 404 (code `error`) for an unknown room type or rate plan, and for a new reservation in an inactive room type
 * @throws ApiError 400 `invalid_request`
 */
export async function receiveReservation(
  { db, reservations }: { db: Database; reservations: Reservations },
  call: ChannelCall,
  input: OtaReservation,
): Promise<{ reservation: PmsReservation; isNew: boolean }> {
  checkRange(input);
  const [stay, source] = bookingOf(call, input);
  const stored = await findBooked(db, call.tenantId, source.key);
  // A concurrent call may book the stay first. Then `book` returns the stay of that call, and this call changes it.
  const booked = stored === undefined ? await reservations.book(stay, source) : { row: stored, isReplayed: true };
  const row = booked.isReplayed ? await changeStored(db, booked.row.id, call, input) : booked.row;
  // The response to an outdated call shows the stored reservation, which may have another room type than the call.
  const roomType = orNotFound(await findRoomType(db, call.tenantId, row.room_type_id), 'room type');
  return { reservation: pmsShape(row, roomType), isNew: !booked.isReplayed };
}

function bookingOf(call: ChannelCall, input: OtaReservation): [StayInput, BookingSource] {
  const { tenantId, currency, source: external_source, timestamp, signature } = call;
  const { guest_name: name, guest_phone: phone, guest_email: email } = guestOf(input.guest);
  return [
    { ...input, guests: input.guests || 1, guest: { name, phone, email }, total_amount: soldTotal(input, currency) },
    { type: 'ota', tenantId, currency, key: { external_source, external_id: input.external_id }, timestamp, signature },
  ];
}

async function changeStored(
  db: Database,
  id: string,
  call: ChannelCall,
  input: OtaReservation,
): Promise<ReservationRow> {
  const { tenantId, channelId } = call;
  const { id: room_type_id } = orNotFound(await findRoomType(db, tenantId, input.room_type_id), 'room type');
  const rate_plan_id = input.rate_plan_id?.toLowerCase() || null;
  const { check_in, check_out } = input;
  const range = { tenant_id: tenantId, room_type_id, check_in, check_out };
  const [plans = []] = rate_plan_id === null ? [] : await readCalendars(db, [range]);
  if (rate_plan_id !== null && !plans.some((plan) => plan.id === rate_plan_id)) {
    throw notFound('rate plan of this room type');
  }
  const reported = { ...input, room_type_id, rate_plan_id };
  const wanted = wantedChange({ type: 'channel', id: channelId });
  return await inTransaction(db, async (tx) => {
    const row = await lockStay(tx, tenantId, id);
    return isOutdated(row, call) ? row : await writeChange(tx, row, changesOf(row, call, reported), wanted);
  });
}

/**
 * Timestamps are in whole seconds, so two different calls may have the same timestamp. To distinguish these calls, the row stores the
 * signatures of all applied calls with the latest timestamp.
 */
function isOutdated(row: ReservationRow, call: ChannelCall): boolean {
  const latest = row.channel_timestamp ?? 0;
  const isApplied = call.timestamp === latest && row.channel_signatures?.includes(call.signature);
  return call.timestamp < latest || isApplied === true;
}

/**
 * A value that the call does not have stays. But if the room type changes, the stored rate plan becomes null, because it belongs to the old
 * room type. If the status changes, so does `status_request_id`, because an OTA sends no such id.
 */
function changesOf(row: ReservationRow, call: ChannelCall, input: OtaReservation) {
  const isSameSecond = call.timestamp === row.channel_timestamp;
  const { status, room_type_id, check_in, check_out } = input;
  const keptPlan = room_type_id === row.room_type_id ? row.rate_plan_id : null;
  const total = soldTotal(input, row.currency) ?? row.total_amount;
  const nights = { room_type_id, check_in, check_out };
  return {
    ...nights,
    status,
    rate_plan_id: input.rate_plan_id ?? keptPlan,
    guests: input.guests || row.guests,
    ...guestOf(input.guest),
    total_amount: total,
    nightly_prices: hasMoved(row, nights) || total !== row.total_amount ? null : row.nightly_prices,
    channel_timestamp: call.timestamp,
    channel_signatures: [...(isSameSecond ? (row.channel_signatures ?? []) : []), call.signature],
    status_request_id: status === row.status ? row.status_request_id : null,
  };
}

function soldTotal({ total_amount: amount }: OtaReservation, currency: string): string | undefined {
  if (amount === undefined || amount === null || amount === '') {
    return undefined;
  }
  const total = formatMoney(decimalText(amount), currency);
  if (exceedsMaximum(centsOf(total))) {
    throw invalidField('total_amount', 'must be at most 99999999.99 after it is rounded');
  }
  return total;
}

const MAX_NAME = 500;
const MAX_PHONE = 20;
const MAX_EMAIL = 254;

/**
 * The OTA has sold the stay, so a text that is too long does not refuse the call. An e-mail address is left out, because a part of it would
 * be a wrong address.
 */
function guestOf({ full_name, phone, email }: OtaReservation['guest']) {
  const address = email?.trim() ?? '';
  return {
    guest_name: cut(full_name, MAX_NAME),
    guest_phone: cut(phone?.trim() ?? '', MAX_PHONE) || null,
    guest_email: address === '' || address !== cut(address, MAX_EMAIL) ? null : address,
  };
}

/** A character is a Unicode code point, so no surrogate pair is cut in two. */
function cut(text: string, maxLength: number): string {
  return Array.from(text).slice(0, maxLength).join('');
}
