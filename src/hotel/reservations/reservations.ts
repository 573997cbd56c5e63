import type { ChangeActor } from '#access/actors/actors.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { apiError, notFound } from '#platform/errors.ts';
import type { WholeList } from '#platform/db/whole-list.ts';
import { type ListPart, readPart } from '#platform/http/keyset-page.ts';
import { isUuid } from '#platform/lib/ids.ts';
import type { ReadHeldNights } from '../nights/nights.ts';
import type { RateReader } from '../rates/rates.ts';
import { type FindRoomType, listRoomTypeIds } from '../rooms/rooms.ts';
import type { RecordEvents, TransactionWithEvents } from '#webhooks/events/events.ts';
import { type Book, createBook } from './book.ts';
import { reservationEvent, type WantedChange, wantedChange, writeChange } from './changes.ts';
import { checkRange, lockStay, notAvailable, type Range, requireActive, sellStay, statusRefusal } from './checks.ts';
import * as lists from './list-store.ts';
import { mayCancel, mayFollow, type ReservationStatus } from './reservation-status.ts';
import type { Availability, ReservationResponse, StayQuote, StayQuoteQuery } from './schema.ts';
import { partnerShape, shapeWithHistory, stayQuoteShape } from './shapes.ts';
import { filterOf, type StaffReservationQuery } from './staff-query.ts';
import type { ReservationStatusChange, StaffReservationWithHistory } from './staff-schema.ts';
import * as store from './store.ts';

export { HOLDING_STATUSES, RESERVATION_STATUSES, type ReservationStatus } from './reservation-status.ts';
export { type BookingSource, houseBooking, partnerBooking, type StayInput } from './book.ts';
export { hasMoved, type WantedChange, wantedChange } from './changes.ts';
export { checkRange, lockStay } from './checks.ts';
export { repairNights } from './night.ts';
export { type Recount, recount } from './night-store.ts';
export { PmsReservation } from './schema.ts';
export { partnerShape, pmsShape } from './shapes.ts';
export type { BookingKey, ReservationRow, StayRow } from './store.ts';

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
  /** Books a stay, for a partner, the hotel itself or an OTA. */
  readonly book: Book;

  constructor({ db, transactionWithEvents, findRoomType, rates, readHeldNights }: Dependencies) {
    this.#db = db;
    this.#transactionWithEvents = transactionWithEvents;
    this.#findRoomType = findRoomType;
    this.#rates = rates;
    this.#readHeldNights = readHeldNights;
    this.book = createBook({ db, transactionWithEvents, findRoomType, rates });
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
    const { room_type_id, check_in, check_out, guests } = stay;
    const roomType = await requireActive(this.#findRoomType, tenantId, room_type_id);
    const readers = { findRoomType: this.#findRoomType, rates: this.#rates };
    const [{ quote }, held] = await Promise.all([
      sellStay(readers, { tenantId, type: 'partner' }, { room_type_id, check_in, check_out, guests }),
      this.#readHeldNights({ tenantId, roomTypeId: roomType.id, checkIn: check_in, checkOut: check_out }),
    ]);
    if (held.some((night) => night.held >= roomType.physical_capacity)) {
      throw notAvailable();
    }
    return stayQuoteShape(roomType.id, stay, quote, currency);
  }

  /**
   * Returns the reservation that the credential of the caller has booked with this external id.
   * @throws ApiError 404 `reservation_not_found` if this credential has booked no such reservation
   */
  async find(caller: Caller, externalId: string): Promise<ReservationResponse> {
    return partnerShape(await this.#findOfCaller(caller, externalId));
  }

  async #findOfCaller({ tenantId, credentialId }: Caller, externalId: string): Promise<store.ReservationRow> {
    const row = await store.findBooked(this.#db, tenantId, { credentialId, externalId });
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
      if (await store.hasChange(tx, tenantId, wanted.id)) {
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
    if (changed.status !== row.status) {
      const type = changed.status === 'cancelled' ? 'reservation.cancelled' : 'reservation.modified';
      await record?.(...reservationEvent(type, changed, changed.changed_at));
    }
    return changed;
  }

  /** Returns the stay that was booked under the key. Returns undefined if there is no such stay. */
  async findBooked(tenantId: number, key: store.BookingKey): Promise<store.ReservationRow | undefined> {
    return await store.findBooked(this.#db, tenantId, key);
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
    const filter = filterOf(query);
    const { property_id: propertyId, order } = query;
    // If the hotel has only one property, `listRoomTypeIds` returns undefined, and the query needs no condition for the property.
    const room_type_ids = propertyId === undefined ? undefined : await listRoomTypeIds(this.#db, tenantId, propertyId);
    const list = lists.listForStaff(tenantId, { ...filter, room_type_ids }, order);
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
