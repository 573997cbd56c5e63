import { changeActorOf } from '#access/actors/actors.ts';
import { type NewAuditEntry, prepareAudit, type WriteAuditEntry } from '#access/audit/audit.ts';
import { actorOf, type Staff } from '#access/tenants/tenants.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError } from '#platform/errors.ts';
import { todayIn } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { newNaturalId } from '#platform/lib/natural-id.ts';
import { type Hold, moveHold, moveHoldWithin } from '../nights/nights.ts';
import { checkAmounts, readCalendars } from '../rates/rates.ts';
import { type FindRoomType, findRoomType, type RoomTypeWithClock } from '../rooms/rooms.ts';
import { notAvailable } from './booking.ts';
import { findBooked, hasChange, insertChange } from './change-store.ts';
import { bookingRecordOf, nextChangeTime, type WantedChange, wantedChange } from './changes.ts';
import { checkRange, lockStay, requireActive } from './checks.ts';
import { holdOf, nightsOfStay } from './consequences.ts';
import { earlyEnd, isEarlyEnd } from './early-end.ts';
import { changeRefusal, type CheckedChange, houseChange } from './house-change.ts';
import { bookingPlan, checkBooking } from './house-booking.ts';
import { priceOf } from './price.ts';
import type { HouseBooking, HouseChange } from './staff-schema.ts';
import { insertReservations, type NewReservation, type ReservationRow, updateReservation } from './store.ts';
import { writeChange } from './write-change.ts';

/** Fields of the caller that a booking needs. */
type Booker = Pick<Staff, 'type' | 'id' | 'tenant'>;

interface Dependencies {
  db: Database;
  findRoomType: FindRoomType;
}

/**
 * Operations of staff on stays: booking stays for the hotel itself, changing these stays, ending stays early, and recording arrivals. Each
 * operation writes an audit entry.
 */
export class StaffStays {
  readonly #db: Database;
  readonly #findRoomType: FindRoomType;

  constructor({ db, findRoomType: find }: Dependencies) {
    this.#db = db;
    this.#findRoomType = find;
  }

  /**
   * Books a stay for the hotel itself, without a partner or an OTA (decision 43). If an earlier call has used the same `request_id`, the
   * method books nothing. Causes no event.
   * @returns the id of the new reservation. If an earlier call has booked the stay, the id of its reservation, and `isReplayed` is true
   * @throws ApiError 404 `room_type_not_found`, 404 (code `error`) for an unknown rate plan, 409 `room_not_available`, 400
   * `invalid_request`
   */
  async book(staff: Booker, input: HouseBooking): Promise<{ id: string; isReplayed: boolean }> {
    checkRange(input);
    const { id: tenantId, currency } = staff.tenant;
    checkAmounts([['total_amount', input.total_amount]], currency);
    const requestId = input.request_id.toLowerCase();
    const earlier = await findBooked(this.#db, tenantId, requestId);
    if (earlier !== undefined) {
      return { id: earlier, isReplayed: true };
    }
    const { row, capacity } = await this.#draft(staff, input);
    const booked = { row, requestId, capacity: input.overbook ? null : capacity };
    await this.#insert(staff, booked).catch((error: unknown) => {
      if (error !== REQUEST_TAKEN) {
        throw error;
      }
    });
    const stored = await findBooked(this.#db, tenantId, requestId);
    // If no booking has this request id, the insert failed because another reservation has the same natural id (short random code). The
    // next try makes a new natural id.
    return stored === undefined ? await this.book(staff, input) : { id: stored, isReplayed: stored !== row.id };
  }

  /** Checks a booking, and returns its row and the capacity of its room type. */
  async #draft({ tenant }: Booker, input: HouseBooking): Promise<{ row: NewHouseStay; capacity: number }> {
    const roomType = await requireActive(this.#findRoomType, tenant.id, input.room_type_id);
    checkBooking(roomType, input);
    const { check_in, check_out, guest } = input;
    const plans = await readCalendars(this.#db, tenant.id, roomType.id, check_in, check_out);
    const quote = bookingPlan(roomType, plans, input);
    const row = {
      tenant_id: tenant.id,
      id: newId(),
      natural_id: newNaturalId(),
      status: 'confirmed',
      room_type_id: roomType.id,
      rate_plan_id: quote.planId,
      check_in,
      check_out,
      guests: input.guests ?? 1,
      guest_name: guest.name,
      guest_phone: guest.phone ?? null,
      guest_email: guest.email === '' ? null : (guest.email ?? null),
      ...priceOf(quote, tenant.currency, input.total_amount),
      currency: tenant.currency,
      created_at: new Date(),
    };
    return { row, capacity: roomType.physical_capacity };
  }

  /**
   * Inserts the stay and holds its nights. Does nothing if another reservation has the same natural id (short random code), or if an
   * earlier try of this transaction was committed.
   */
  async #insert(staff: Booker, { row, requestId, capacity }: BookedStay): Promise<void> {
    const wanted = wantedChange(changeActorOf(staff));
    const recordAudit = prepareAudit(actorOf(staff));
    await inTransaction(this.#db, async (tx) => {
      if ((await insertReservations(tx, [row])).size === 0) {
        return;
      }
      if (!(await insertChange(tx, bookingRecordOf(row, wanted, requestId)))) {
        throw REQUEST_TAKEN;
      }
      await hold(tx, row.tenant_id, { from: null, to: nightsOfStay(row), capacity });
      await recordAudit(tx, bookingEntry(row, capacity === null));
    });
  }

  /**
   * Changes a stay that the hotel itself booked, or ends a stay of any source early.
   * @throws ApiError 404 (code `error`) if the id is unknown, 404 `room_type_not_found`, 400 `invalid_request`, 409 `room_not_available`,
   * 409 `invalid_status_transition` if the stay may not change, or has changed since `expected_changed_at`
   */
  async change(staff: Staff, id: string, input: HouseChange): Promise<void> {
    const wanted = wantedChange(changeActorOf(staff));
    const recordAudit = prepareAudit(actorOf(staff));
    await inTransaction(this.#db, async (tx) => {
      const row = await lockStay(tx, staff.tenant.id, id);
      const roomType = await roomTypeOf(tx, row);
      const today = todayIn(roomType.timezone);
      const isEnd = isEarlyEnd(row, input, today);
      const refusal = changeRefusal(row, input, isEnd);
      if (refusal === null) {
        const change = isEnd
          ? { update: earlyEnd(row, input, today), capacity: null }
          : await houseChange(tx, row, roomType, { input, currency: staff.tenant.currency });
        await write(tx, row, change, { wanted, recordAudit });
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
   * Records that the guests of a confirmed stay have arrived, or removes this record. Changes nothing if `arrived` is the stored value
   * already. Causes no event.
   * @throws ApiError 404 (code `error`) if the id is unknown, 409 `invalid_status_transition` if the stay is not confirmed
   */
  async setArrival(staff: Staff, id: string, arrived: boolean): Promise<void> {
    const recordAudit = prepareAudit(actorOf(staff));
    await inTransaction(this.#db, async (tx) => {
      const row = await lockStay(tx, staff.tenant.id, id);
      if (row.status !== 'confirmed') {
        throw apiError(
          'invalid_status_transition',
          `The reservation is ${row.status}. Only the arrival of a confirmed reservation can change.`,
        );
      }
      if (arrived !== (row.arrived_at !== null)) {
        const changed_at = nextChangeTime(row);
        await updateReservation(tx, row.tenant_id, row.id, { arrived_at: arrived ? changed_at : null, changed_at });
        const { natural_id } = row;
        await recordAudit(tx, { action: 'reservation.arrival', subject: row.id, details: { natural_id, arrived } });
      }
    });
  }
}

/** Row of a new stay that the hotel itself books. */
type NewHouseStay = NewReservation & { created_at: Date };

interface BookedStay {
  row: NewHouseStay;
  requestId: string;
  /**
   * Number of rooms of the room type. If a night would have more held rooms than this number, the booking is refused. Null if a night may
   * have more held rooms.
   */
  capacity: number | null;
}

interface Writers {
  wanted: WantedChange;
  recordAudit: WriteAuditEntry;
}

/** Error if a concurrent call has booked a stay under the same `request_id`. The transaction is then rolled back. */
const REQUEST_TAKEN = new Error(
  'A concurrent call has booked a stay with the same request_id. This error only rolls back the transaction.',
);

/** Returns the room type of a stay, which may be inactive. */
async function roomTypeOf(tx: Tx, row: ReservationRow): Promise<RoomTypeWithClock> {
  const roomType = await findRoomType(tx, row.tenant_id, row.room_type_id);
  if (roomType === null) {
    throw new Error(
      `The room type ${row.room_type_id} of the reservation ${row.id} was not found. This is a fault of the program.`,
    );
  }
  return roomType;
}

/** Writes a change of a stay, its nights and its audit entry. Writes nothing if the change has no differences. */
async function write(tx: Tx, row: ReservationRow, { update, capacity }: CheckedChange, by: Writers): Promise<void> {
  const entry = changeEntry(row, { ...row, ...update });
  if (entry === null) {
    return;
  }
  const changed = await writeChange(tx, row, update, by.wanted);
  await hold(tx, row.tenant_id, { from: holdOf(row), to: nightsOfStay(changed), capacity });
  await by.recordAudit(tx, entry);
}

/**
 * Holds the nights of a stay, and releases the nights that the stay no longer has.
 * @param capacity number of rooms of the room type. If null, the function does not check that rooms are left
 * @throws ApiError 409 `room_not_available` if an added night has no room left
 */
async function hold(
  tx: Tx,
  tenantId: number,
  { from, to, capacity }: { from: Hold | null; to: Hold; capacity: number | null },
): Promise<void> {
  if (capacity === null) {
    await moveHold(tx, tenantId, from, to);
  } else if (!(await moveHoldWithin(tx, tenantId, { from, to, capacity }))) {
    throw notAvailable();
  }
}

function bookingEntry(row: NewHouseStay, overbook: boolean): NewAuditEntry {
  const { natural_id, room_type_id, check_in, check_out, guests, total_amount } = row;
  const details = { natural_id, room_type_id, check_in, check_out, guests, total_amount, overbook };
  return { action: 'reservation.booked', subject: row.id, details };
}

const LISTED = ['room_type_id', 'check_in', 'check_out', 'guests', 'total_amount', 'currency'] as const;
const OF_GUEST = ['guest_name', 'guest_phone', 'guest_email'] as const;
type Audited = Pick<ReservationRow, (typeof LISTED)[number] | (typeof OF_GUEST)[number]>;

/**
 * Returns the audit entry of a change, or null if the update changes no value. If the guest changes, the entry names only the field
 * `guest`. Audit entries are never removed, so they do not contain the name, the phone or the email of a guest.
 */
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
