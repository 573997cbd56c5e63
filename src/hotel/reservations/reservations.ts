import type { ChangeActor } from '#access/actors/actors.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { ApiError, apiError, invalidField, notFound } from '#platform/errors.ts';
import type { WholeList } from '#platform/db/whole-list.ts';
import { type ListPart, readPart } from '#platform/http/keyset-page.ts';
import { nightsOf, todayIn } from '#platform/lib/dates.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { newNaturalId } from '#platform/lib/natural-id.ts';
import { moveHold, type ReadHeldNights } from '../nights/nights.ts';
import { type Quote, quoteCheapest, type RateReader } from '../rates/rates.ts';
import { type FindRoomType, listRoomTypeIds, type RoomTypeWithClock } from '../rooms/rooms.ts';
import type { RecordEvents, TransactionWithEvents } from '#webhooks/events/events.ts';
import { type Booking, type BookingOutcome, createBooker, notAvailable } from './booking.ts';
import { hasChange } from './change-store.ts';
import { type WantedChange, wantedChange } from './changes.ts';
import { checkRange, lockStay, type Range, requireActive, statusRefusal } from './checks.ts';
import { reservationEvent, holdOf } from './consequences.ts';
import * as lists from './list-store.ts';
import { priceOf } from './price.ts';
import { mayCancel, mayFollow, type ReservationStatus } from './reservation-status.ts';
import type { Availability, ReservationCreate, ReservationResponse } from './schema.ts';
import { filterOf, type StaffReservationQuery } from './staff-query.ts';
import type { ReservationStatusChange, StaffReservationWithHistory } from './staff-schema.ts';
import { shapeWithHistory } from './staff-shape.ts';
import { type StayQuote, type StayQuoteQuery, stayQuoteShape } from './stay-quote.ts';
import * as store from './store.ts';
import { writeChange } from './write-change.ts';

export { HOLDING_STATUSES, RESERVATION_STATUSES, type ReservationStatus } from './reservation-status.ts';
export { PmsReservation, pmsShape } from './pms-shape.ts';
export { type Recount, recount } from './recount-store.ts';
export { repairNights } from './repair-nights.ts';
export { hasMoved, type WantedChange, wantedChange } from './changes.ts';
export { checkRange } from './checks.ts';
export { priceOf } from './price.ts';
export type { ReservationFilter } from './list-store.ts';
export type { ReservationRow } from './store.ts';

export interface BookedStay {
  reservation: ReservationResponse;
  /** True if an earlier call has booked the stay, so that this call only returns the reservation. */
  isReplayed: boolean;
}

interface Dependencies {
  db: Database;
  transactionWithEvents: TransactionWithEvents;
  findRoomType: FindRoomType;
  rates: RateReader;
  readHeldNights: ReadHeldNights;
}

/** Operations on reservations. Partners and OTAs make reservations, and staff change their status. */
export class Reservations {
  readonly #db: Database;
  readonly #transactionWithEvents: TransactionWithEvents;
  readonly #findRoomType: FindRoomType;
  readonly #rates: RateReader;
  readonly #readHeldNights: ReadHeldNights;
  readonly #writeBooking: (booking: Booking) => Promise<BookingOutcome>;

  constructor({ db, transactionWithEvents, findRoomType, rates, readHeldNights }: Dependencies) {
    this.#db = db;
    this.#transactionWithEvents = transactionWithEvents;
    this.#findRoomType = findRoomType;
    this.#rates = rates;
    this.#readHeldNights = readHeldNights;
    this.#writeBooking = createBooker(db, transactionWithEvents);
  }

  /**
   * Returns the number of sellable rooms of a room type on each night of a range (contract §2). The number is negative if the night is
   * oversold.
   * @throws ApiError 404 `room_type_not_found`, 400 `invalid_request` if the range is invalid
   */
  async availability(tenantId: number, roomTypeId: string, range: Range): Promise<Availability> {
    checkRange(range);
    const roomType = await requireActive(this.#findRoomType, tenantId, roomTypeId);
    const nights = { tenantId, roomTypeId, checkIn: range.check_in, checkOut: range.check_out };
    const [held, closed] = await Promise.all([this.#readHeldNights(nights), this.#rates.readClosedNights(nights)]);
    const days = held.map((night) => {
      const left = roomType.physical_capacity - night.held;
      return { date: night.date, sellable: closed.has(night.date) ? Math.min(0, left) : left };
    });
    return { room_type_id: roomType.id, name: roomType.name, base_price: roomType.base_price, days };
  }

  /**
   * Returns the price that the reservation would have if `book` booked the stay now. Refuses a stay that `book` would refuse, with the same
   * error. Writes nothing (decision 40).
   * @throws ApiError 404 `room_type_not_found`, 409 `room_not_available`, 400 `invalid_request`
   */
  async quote({ tenantId, currency }: Caller, stay: StayQuoteQuery): Promise<StayQuote> {
    checkRange(stay);
    const roomType = await requireActive(this.#findRoomType, tenantId, stay.room_type_id);
    const nights = { tenantId, roomTypeId: roomType.id, checkIn: stay.check_in, checkOut: stay.check_out };
    const [quote, held] = await Promise.all([this.#quote(tenantId, roomType, stay), this.#readHeldNights(nights)]);
    if (held.some((night) => night.held >= roomType.physical_capacity)) {
      throw notAvailable();
    }
    return stayQuoteShape(roomType.id, stay, quote, currency);
  }

  /**
   * Books a stay if each night has a room left. If an earlier call of the credential has used the same external id, the method books
   * nothing. It then returns the reservation of that call, even if the stay could not be booked now (decision 22).
   * @throws ApiError 404 `room_type_not_found`, 409 `room_not_available`, 400 `invalid_request`
   */
  async book(caller: Caller, input: ReservationCreate): Promise<BookedStay> {
    checkRange(input);
    const { tenantId, credentialId } = caller;
    const outcome = await this.#bookNew(caller, input).catch((error: unknown) => {
      if (error instanceof ApiError) {
        return error;
      }
      throw error;
    });
    if (outcome !== null && !(outcome instanceof ApiError)) {
      return { reservation: outcome, isReplayed: false };
    }
    const stored = await store.findByExternalReservationId(
      this.#db,
      tenantId,
      credentialId,
      input.external_reservation_id,
    );
    if (stored !== undefined) {
      return { reservation: partnerShape(stored), isReplayed: true };
    }
    if (outcome !== null) {
      throw outcome;
    }
    // Another reservation has the same natural id (short random code), which has a chance of about one in a million. The next try makes a
    // new natural id.
    return await this.book(caller, input);
  }

  /**
   * Books the stay. Returns null if another reservation already has its external id, or its natural id. A natural id is a short random
   * code.
   */
  async #bookNew(caller: Caller, input: ReservationCreate): Promise<ReservationResponse | null> {
    const { tenantId, credentialId, currency } = caller;
    const roomType = await requireActive(this.#findRoomType, tenantId, input.room_type_id);
    const quote = await this.#quote(tenantId, roomType, input);
    const row = {
      tenant_id: tenantId,
      id: newId(),
      natural_id: newNaturalId(),
      credential_id: credentialId,
      external_reservation_id: input.external_reservation_id,
      status: 'confirmed' as const,
      room_type_id: roomType.id,
      rate_plan_id: quote.planId,
      check_in: input.check_in,
      check_out: input.check_out,
      guests: input.guests ?? 1,
      guest_name: input.guest.name,
      guest_phone: input.guest.phone,
      // An empty text is not an email address, so it is stored as null.
      guest_email: input.guest.email === '' ? null : (input.guest.email ?? null),
      ...priceOf(quote, currency),
      currency,
      created_at: new Date(),
    };
    const outcome = await this.#writeBooking({ row, capacity: roomType.physical_capacity });
    return outcome === 'booked' ? partnerShape(row) : null;
  }

  /**
   * Checks that the stay may be sold, and returns its price. Does not check that rooms are left.
   * @throws ApiError 400 `invalid_request` for too many guests or a past check-in, 409 `room_not_available` if no rate plan fits the stay
   */
  async #quote(
    tenantId: number,
    roomType: RoomTypeWithClock,
    input: Range & Pick<ReservationCreate, 'guests'>,
  ): Promise<Quote> {
    if ((input.guests ?? 1) > roomType.max_occupancy) {
      throw invalidField('guests', `must be at most ${roomType.max_occupancy} in this room type`);
    }
    const today = todayIn(roomType.timezone);
    if (input.check_in < today) {
      throw invalidField('check_in', `must not be before today at the property, which is ${today}`);
    }
    const { check_in: checkIn, check_out: checkOut } = input;
    const plans = await this.#rates.readCalendars({ tenantId, roomTypeId: roomType.id, checkIn, checkOut });
    const quote = quoteCheapest(plans, nightsOf(checkIn, checkOut), roomType.base_price, 'apply');
    if (quote === null) {
      throw notAvailable();
    }
    return quote;
  }

  /**
   * Returns the reservation that the credential of the caller has booked with this external id.
   * @throws ApiError 404 `reservation_not_found` if this credential has booked no such reservation
   */
  async find(caller: Caller, externalId: string): Promise<ReservationResponse> {
    return partnerShape(await this.#findOfCaller(caller, externalId));
  }

  async #findOfCaller({ tenantId, credentialId }: Caller, externalId: string): Promise<store.ReservationRow> {
    const row = await store.findByExternalReservationId(this.#db, tenantId, credentialId, externalId);
    if (row === undefined) {
      throw apiError(
        'reservation_not_found',
        'This credential has booked no reservation with this external_reservation_id.',
      );
    }
    return row;
  }

  /**
   * Cancels a reservation for the partner that booked it.
   * @throws ApiError 404 `reservation_not_found`, 409 `invalid_status_transition`
   */
  async cancel(caller: Caller, externalId: string): Promise<ReservationResponse> {
    const { id } = await this.#findOfCaller(caller, externalId);
    const wanted = wantedChange({ type: 'partner', id: caller.credentialId });
    return partnerShape(await this.#setStatus(caller.tenantId, id, { status: 'cancelled' }, wanted, mayCancel));
  }

  /**
   * Changes the status of a reservation for staff. If the last change of the status had the same `request_id`, the call is a repeat, so the
   * method changes no data (decision 36).
   * @throws ApiError 404 (code `error`) if the id is unknown, 409 `invalid_status_transition`
   */
  async changeStatus(tenantId: number, id: string, change: ReservationStatusChange, actor: ChangeActor): Promise<void> {
    const reason = change.reason === '' ? null : (change.reason ?? null);
    await this.#setStatus(tenantId, id, change, wantedChange(actor, reason), mayFollow);
  }

  /**
   * Sets the status of a reservation and updates the night counters, in one transaction. If a partner booked the stay, also records an
   * event for this partner. If the row of the reservation already has the request id of the call, the call is a repeat. The method then
   * returns the reservation unchanged.
   */
  async #setStatus(
    tenantId: number,
    id: string,
    change: ReservationStatusChange,
    wanted: WantedChange,
    isAllowed: (from: ReservationStatus, to: ReservationStatus) => boolean,
  ): Promise<store.ReservationRow> {
    const requestId = change.request_id?.toLowerCase() ?? null;
    return await this.#transactionWithEvents(async (tx, record) => {
      const row = await lockStay(tx, tenantId, id);
      if (requestId !== null && requestId === row.status_request_id) {
        return row;
      }
      const refusal = statusRefusal(row.status as ReservationStatus, change, isAllowed);
      if (refusal === null) {
        return await this.change(tx, row, { status: change.status, status_request_id: requestId }, wanted, record);
      }
      // An earlier try of this transaction may have been committed, although the response to its COMMIT was lost. The reservation then
      // already has the new status, so the call has succeeded, and throwing `refusal` would be wrong.
      if (await hasChange(tx, tenantId, wanted.id)) {
        return row;
      }
      throw refusal;
    });
  }

  /**
   * Changes a reservation whose row the caller has locked, and updates the night counters to its new dates, room type and status. If the
   * status changes and a partner booked the stay, passes an event for this partner to `record`. Does not check the capacity, because a
   * change by an OTA and a change of status are accepted even if a night is full.
   * @param record function that writes the event. Null for a reservation of an OTA, which causes no webhook (decision 30)
   */
  async change(
    tx: Tx,
    row: store.ReservationRow,
    update: store.ReservationUpdate,
    wanted: WantedChange,
    record: RecordEvents | null,
  ): Promise<store.ReservationRow> {
    const changed = await writeChange(tx, row, update, wanted);
    await moveHold(tx, row.tenant_id, holdOf(row), holdOf(changed));
    const { credential_id, external_reservation_id, status } = changed;
    if (status !== row.status && credential_id !== null && external_reservation_id !== null) {
      const type = status === 'cancelled' ? 'reservation.cancelled' : 'reservation.modified';
      const of = { ...changed, credential_id, external_reservation_id };
      await record?.(reservationEvent(type, of, changed.changed_at));
    }
    return changed;
  }

  /**
   * Inserts a reservation and holds its nights, without a check of the capacity.
   * @returns null if another reservation already has its external id or its natural id (short random code)
   */
  async add(tx: Tx, reservation: store.NewReservation): Promise<store.ReservationRow | null> {
    if ((await store.insertReservations(tx, [reservation])).size === 0) {
      return null;
    }
    const row = await store.lockReservation(tx, reservation.tenant_id, reservation.id);
    if (row === undefined) {
      throw new Error(
        `The transaction has inserted the reservation ${reservation.id} of tenant ${reservation.tenant_id}, but cannot read it. ` +
          'This is a fault of the program.',
      );
    }
    await moveHold(tx, row.tenant_id, null, holdOf(row));
    return row;
  }

  /** Returns an OTA's reservation, and locks its row until the transaction ends. Returns undefined if it does not exist. */
  async lockBySource(
    tx: Tx,
    tenantId: number,
    source: string,
    externalId: string,
  ): Promise<store.ReservationRow | undefined> {
    return await store.lockBySource(tx, tenantId, source, externalId);
  }

  /**
   * Returns a reservation of the tenant.
   * @throws ApiError 404 (code `error`) if the id is unknown
   */
  async get(tenantId: number, id: string): Promise<store.ReservationRow> {
    const row = isUuid(id) ? await store.findReservation(this.#db, tenantId, id) : undefined;
    if (row === undefined) {
      throw notFound('reservation');
    }
    return row;
  }

  /**
   * Returns a reservation of the tenant with its history, in the form of the staff API.
   * @throws ApiError 404 (code `error`) if the id is unknown
   */
  async show(tenantId: number, id: string): Promise<StaffReservationWithHistory> {
    const row = isUuid(id) ? await lists.findForStaff(this.#db, tenantId, id) : undefined;
    if (row === undefined) {
      throw notFound('reservation');
    }
    return await shapeWithHistory(this.#db, row);
  }

  /** Returns the list of the reservations that the credential has booked, newest first. */
  listOfCaller({ tenantId, credentialId }: Caller): WholeList<store.ReservationRow> {
    return lists.listOfCredential(this.#db, tenantId, credentialId);
  }

  /**
   * Reads the part of the list of reservations that the query asks for.
   * @throws ApiError 400 `invalid_request` if a filter or the cursor is invalid
   */
  async listForStaff(tenantId: number, query: StaffReservationQuery): Promise<ListPart<lists.LabelledRow>> {
    const filter = filterOf(tenantId, query);
    const { property_id: propertyId } = query;
    // If the hotel has only one property, `listRoomTypeIds` returns undefined, and the query needs no condition for the property.
    const roomTypeIds = propertyId === undefined ? undefined : await listRoomTypeIds(this.#db, tenantId, propertyId);
    const list = lists.listForStaff({ ...filter, roomTypeIds }, query.order ?? 'newest');
    return await readPart(this.#db, list, query);
  }

  /** Reads at most `limit` reservations, with the latest check-in first. @param status undefined: any status */
  async listByCheckIn(
    tenantId: number,
    status: ReservationStatus | undefined,
    limit: number,
  ): Promise<store.ReservationRow[]> {
    return await lists.readByCheckIn(this.#db, { tenantId, status, limit });
  }
}

/** Returns the reservation as responses of the third-party API show it. */
export function partnerShape(row: store.PartnerRow): ReservationResponse {
  return {
    success: true,
    reservation_id: row.id,
    external_reservation_id: row.external_reservation_id ?? '',
    status: row.status as ReservationStatus,
    room_type_id: row.room_type_id,
    check_in: row.check_in,
    check_out: row.check_out,
    guests: row.guests,
    total_amount: row.total_amount,
    currency: row.currency,
    created_at: row.created_at.toISOString(),
  };
}
