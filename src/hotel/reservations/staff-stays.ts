import { changeActorOf } from '#access/actors/actors.ts';
import { type NewAuditEntry, prepareAudit } from '#access/audit/audit.ts';
import { actorOf, type Staff } from '#access/tenants/tenants.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { type ApiError, invalidField, orNotFound } from '#platform/errors.ts';
import { type DateText, nightsOf, timeAfter, todayIn } from '#platform/lib/dates.ts';
import { formatMoney } from '#platform/lib/money.ts';
import { checkAmounts, type PlanCalendar, type Quote, quotePlan, readCalendars } from '../rates/rates.ts';
import { findRoomType, type RoomTypeWithClock } from '../rooms/rooms.ts';
import { hasMoved, type Nights, wantedChange, writeChange } from './changes.ts';
import { checkArrival, checkGuests, checkRange, lockStay, priceOf, priceStay, requireActive } from './checks.ts';
import { refused, sourceOf } from './reservation-status.ts';
import { HouseChange } from './staff-schema.ts';
import { hasChange, type ReservationRow, type ReservationUpdate, updateReservation } from './store.ts';

/**
 * Changes a stay that the hotel itself booked, or ends a stay of any source early. Writes an audit entry if a value differs.
 * @throws ApiError 404 (code `error`) if the id is unknown, 404 `room_type_not_found`, 400 `invalid_request`, 409 `room_not_available`, 409
 * `invalid_status_transition` if the stay may not change, or has changed since `expected_changed_at`
 */
export async function changeStay(db: Database, staff: Staff, id: string, input: HouseChange): Promise<void> {
  const wanted = wantedChange(changeActorOf(staff));
  const recordAudit = prepareAudit(actorOf(staff));
  await inTransaction(db, async (tx) => {
    const row = await lockStay(tx, staff.tenant.id, id);
    const roomType = orNotFound(await findRoomType(tx, row.tenant_id, row.room_type_id), 'room type');
    const today = todayIn(roomType.timezone);
    const isEnd = isEarlyEnd(row, input, today);
    const refusal = changeRefusal(row, input, isEnd);
    if (refusal === null) {
      const { update, capacity } = isEnd
        ? { update: earlyEnd(row, input, today), capacity: Infinity }
        : await houseChange(tx, row, roomType, { input, currency: staff.tenant.currency });
      const entry = changeEntry(row, { ...row, ...update });
      if (entry !== null) {
        await writeChange(tx, row, update, wanted, capacity);
        await recordAudit(tx, entry);
      }
      return;
    }
    // If an earlier try of this transaction was committed, it has changed `changed_at`, so `expected_changed_at` no longer matches in
    // this try. The call has succeeded, so it is not refused.
    if (!(await hasChange(tx, row.tenant_id, wanted.id))) {
      throw refusal;
    }
  });
}

/**
 * Records that the guests of a confirmed stay have arrived, or removes this record. Causes no event.
 * @throws ApiError 404 (code `error`) if the id is unknown, 409 `invalid_status_transition` if the stay is not confirmed
 */
export async function setArrival(db: Database, staff: Staff, id: string, arrived: boolean): Promise<void> {
  const recordAudit = prepareAudit(actorOf(staff));
  await inTransaction(db, async (tx) => {
    const row = await lockStay(tx, staff.tenant.id, id);
    if (row.status !== 'confirmed') {
      throw refused(`The reservation is ${row.status}. Only the arrival of a confirmed reservation can change.`);
    }
    if (arrived !== (row.arrived_at !== null)) {
      const changed_at = timeAfter(row.changed_at);
      await updateReservation(tx, row.tenant_id, row.id, { arrived_at: arrived ? changed_at : null, changed_at });
      const { natural_id } = row;
      await recordAudit(tx, { action: 'reservation.arrival', subject: row.id, details: { natural_id, arrived } });
    }
  });
}

const NAMED = ['check_out', 'expected_changed_at'];
const OTHERS = Object.keys(HouseChange.properties).filter((field) => !NAMED.includes(field)) as (keyof HouseChange)[];

type EarlyEnd = HouseChange & { check_out: DateText };

/**
 * The present check-out counts as well, so that a repeated call is accepted. A confirmed stay of the hotel itself is ended early only if it
 * has begun and does not end in the past. Any other change of its dates is priced again.
 */
function isEarlyEnd(row: ReservationRow, input: HouseChange, today: DateText): input is EarlyEnd {
  const { check_out } = input;
  if (check_out === undefined || check_out > row.check_out || OTHERS.some((field) => input[field] !== undefined)) {
    return false;
  }
  const hasBegun = row.check_in <= today && check_out >= today;
  return row.status === 'completed' || (row.status === 'confirmed' && (sourceOf(row) !== 'house' || hasBegun));
}

/** The amount stays. The prices of the nights become unknown, because their sum would not be the amount. */
function earlyEnd(row: ReservationRow, { check_out }: EarlyEnd, today: DateText): ReservationUpdate {
  if (check_out === row.check_out) {
    return {};
  }
  checkRange({ check_in: row.check_in, check_out });
  if (check_out < today) {
    throw invalidField('check_out', `must not be before today at the property, which is ${today}`);
  }
  return { check_out, nightly_prices: null };
}

function changeRefusal(
  row: ReservationRow,
  { expected_changed_at: expected }: HouseChange,
  isEnd: boolean,
): ApiError | null {
  const expectedTime = expected === undefined ? null : Date.parse(expected);
  if (!isEnd && sourceOf(row) !== 'house') {
    return refused(
      'A partner or an OTA has booked the reservation. Staff may only send an earlier check_out, alone, while it is confirmed or completed. ' +
        'Ask the partner or the OTA for any other change.',
    );
  }
  if (expectedTime !== null && expectedTime !== row.changed_at.getTime()) {
    return refused('The reservation has changed after the time in expected_changed_at. Read the reservation again.');
  }
  return isEnd || ['pending', 'confirmed'].includes(row.status)
    ? null
    : refused(
        `The reservation is ${row.status}. Only a pending or confirmed reservation can change. A completed one can only get an earlier check_out, alone.`,
      );
}

/** The amount is in the currency of the stay, which may be older than the `currency` of the tenant. */
async function houseChange(
  tx: Tx,
  row: ReservationRow,
  present: RoomTypeWithClock,
  { input, currency }: { input: HouseChange; currency: string },
): Promise<{ update: ReservationUpdate; capacity: number }> {
  const { overbook = false, guests = row.guests } = input;
  const nights = {
    room_type_id: input.room_type_id?.toLowerCase() ?? row.room_type_id,
    check_in: input.check_in ?? row.check_in,
    check_out: input.check_out ?? row.check_out,
  };
  checkRange(nights);
  const isSameType = nights.room_type_id === row.room_type_id;
  const roomType = isSameType ? present : requireActive(await findRoomType(tx, row.tenant_id, nights.room_type_id));
  checkAmounts([['total_amount', input.total_amount]], row.currency);
  if (nights.check_in !== row.check_in) {
    checkArrival(roomType, nights.check_in, 'yesterday');
  }
  if (!overbook && (input.guests !== undefined || !isSameType)) {
    checkGuests(roomType, guests);
  }
  const price = hasMoved(row, nights)
    ? await movedPrice(tx, row, roomType, { nights, input, currency })
    : keptPrice(row, input.total_amount);
  return {
    update: { ...nights, ...price, ...guestUpdate(row, input), guests },
    capacity: overbook ? Infinity : roomType.physical_capacity,
  };
}

function keptPrice(row: ReservationRow, amount: HouseChange['total_amount']) {
  const total_amount = amount === undefined ? row.total_amount : formatMoney(String(amount));
  return { total_amount, nightly_prices: total_amount === row.total_amount ? row.nightly_prices : null };
}

/** A price from a rate plan is in the currency of the tenant, and an amount of the caller is in the currency of the stay. */
async function movedPrice(
  tx: Tx,
  row: ReservationRow,
  roomType: RoomTypeWithClock,
  { nights, input, currency }: { nights: Nights; input: HouseChange; currency: string },
) {
  const { total_amount: amount, overbook = false } = input;
  const [plans = []] = await readCalendars(tx, [{ tenant_id: row.tenant_id, ...nights }]);
  const quote = quoteKept(row, plans, nights, overbook) ?? priceStay(roomType, plans, nights, overbook);
  const priced = amount === undefined ? currency : row.currency;
  return { rate_plan_id: quote.rate_plan?.id ?? null, ...priceOf(quote, priced, amount), currency: priced };
}

/** Returns null if the present rate plan does not allow the changed stay. A closed night is allowed if it was part of the stay before. */
function quoteKept(row: ReservationRow, plans: PlanCalendar[], nights: Nights, overbook: boolean): Quote | null {
  const isSameType = nights.room_type_id === row.room_type_id;
  const plan = isSameType ? plans.find(({ id, is_active }) => is_active && id === row.rate_plan_id) : undefined;
  if (plan === undefined) {
    return null;
  }
  const all = nightsOf(nights.check_in, nights.check_out);
  const kept = new Set(nightsOf(row.check_in, row.check_out));
  const isClosed = all.some((night) => !kept.has(night) && plan.nights[night]?.is_sold_out);
  return overbook || (!isClosed && plan.min_nights <= all.length) ? quotePlan(plan, all) : null;
}

function guestUpdate(row: ReservationRow, { guest = {} }: HouseChange) {
  const { name = row.guest_name, phone = row.guest_phone, email = row.guest_email } = guest;
  return { guest_name: name, guest_phone: phone, guest_email: email === '' ? null : email };
}

const LISTED = ['room_type_id', 'check_in', 'check_out', 'guests', 'total_amount', 'currency'] as const;
const OF_GUEST = ['guest_name', 'guest_phone', 'guest_email'] as const;
type Audited = Pick<ReservationRow, (typeof LISTED)[number] | (typeof OF_GUEST)[number]>;

/** Audit entries are never removed, so they do not contain the name, the phone or the email of a guest. */
function changeEntry(before: ReservationRow, after: Audited): NewAuditEntry | null {
  const fields: object[] = LISTED.filter((field) => before[field] !== after[field]).map((field) => ({
    field,
    from: before[field],
    to: after[field],
  }));
  if (OF_GUEST.some((field) => before[field] !== after[field])) {
    fields.push({ field: 'guest' });
  }
  const details = { natural_id: before.natural_id, fields };
  return fields.length === 0 ? null : { action: 'reservation.changed', subject: before.id, details };
}
