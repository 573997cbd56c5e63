/** Stays: partners, OTAs and the hotel itself book them, and staff find and change them. */
import type { ChangeActor } from '#access/actors/actors.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { apiError } from '#platform/errors.ts';
import type { ReadHeldNights } from '../nights/nights.ts';
import { roundedQuote } from '../rates/rates.ts';
import { type Book, type BookingParts, createBook } from './book.ts';
import { reservationEvent, type WantedChange, wantedChange, writeChange } from './changes.ts';
import { checkRange, lockStay, nightFull, type Range, requireActive, sellStay } from './checks.ts';
import { type ReservationStatus, statusRefusal } from './reservation-status.ts';
import type { Availability, ReservationResponse, StayQuote, StayQuoteQuery } from './schema.ts';
import { partnerShape } from './shapes.ts';
import type { ReservationStatusChange } from './staff-schema.ts';
import * as store from './store.ts';

export { HOLDING_STATUSES, RESERVATION_STATUSES, type ReservationStatus } from './reservation-status.ts';
export { type BookingSource, houseBooking, partnerBooking, type StayInput } from './book.ts';
export { hasMoved, wantedChange, writeChange } from './changes.ts';
export { checkRange, findStay, lockStay } from './checks.ts';
export { readByCheckIn } from './list-store.ts';
export { repairNights } from './night.ts';
export { type Recount, recount } from './night-store.ts';
export { PmsReservation } from './schema.ts';
export { partnerShape, pmsShape } from './shapes.ts';
export { findBooked, type ReservationRow } from './store.ts';

interface Dependencies extends BookingParts {
  readHeldNights: ReadHeldNights;
}

export class Reservations {
  readonly #parts: Dependencies;
  readonly book: Book;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.book = createBook(parts);
  }

  /**
   * Returns the number of sellable rooms of a room type on each night of a range (contract §2). The number is negative if the night is
   * oversold.
   * @throws ApiError 404 `room_type_not_found`, 400 `invalid_request` if the range is invalid
   */
  async availability(tenantId: number, roomTypeId: string, { check_in, check_out }: Range): Promise<Availability> {
    const { findRoomType, readHeldNights, rates } = this.#parts;
    checkRange({ check_in, check_out });
    const { id, name, base_price, physical_capacity } = requireActive(await findRoomType(tenantId, roomTypeId));
    const nights = { tenant_id: tenantId, room_type_id: id, check_in, check_out };
    const [held, closed] = await Promise.all([readHeldNights(nights), rates.readClosedNights(nights)]);
    const days = held.map((night) => {
      const left = physical_capacity - night.held;
      return { date: night.date, sellable: closed.has(night.date) ? Math.min(0, left) : left };
    });
    return { room_type_id: id, name, base_price, days };
  }

  /**
   * Returns the price that `book` would charge now. Refuses a stay that `book` would refuse, with the same error (rule 40).
   * @throws ApiError 404 `room_type_not_found`, 409 `room_not_available`, 400 `invalid_request`
   */
  async quote({ tenantId, currency }: Caller, stay: StayQuoteQuery): Promise<StayQuote> {
    checkRange(stay);
    const { room_type_id, check_in, check_out, guests = 1 } = stay;
    const [{ roomType, quote }, held] = await Promise.all([
      sellStay(this.#parts, { tenantId, type: 'partner' }, { room_type_id, check_in, check_out, guests }),
      this.#parts.readHeldNights({ tenant_id: tenantId, room_type_id, check_in, check_out }),
    ]);
    if (held.some((night) => night.held >= roomType.physical_capacity)) {
      throw nightFull();
    }
    return { room_type_id: roomType.id, check_in, check_out, guests, ...roundedQuote(quote, currency), currency };
  }

  /** @throws ApiError 404 `reservation_not_found`, 409 `invalid_status_transition` */
  async cancel(caller: Caller, externalId: string): Promise<ReservationResponse> {
    const { id } = await findOfCaller(this.#parts.db, caller, externalId);
    const wanted = wantedChange({ type: 'partner', id: caller.credentialId });
    return partnerShape(await this.#setStatus(caller.tenantId, id, { status: 'cancelled' }, wanted));
  }

  /**
   * Changes the status of a reservation for staff. If the last change of the status had the same `request_id`, the call is a repeat and
   * changes nothing (rule 36).
   * @throws ApiError 404 (code `error`) if the id is unknown, 409 `invalid_status_transition`
   */
  async changeStatus(tenantId: number, id: string, change: ReservationStatusChange, actor: ChangeActor): Promise<void> {
    const reason = change.reason === '' ? null : (change.reason ?? null);
    await this.#setStatus(tenantId, id, change, wantedChange(actor, reason));
  }

  async #setStatus(
    tenantId: number,
    id: string,
    change: ReservationStatusChange,
    wanted: WantedChange,
  ): Promise<store.ReservationRow> {
    const requestId = change.request_id?.toLowerCase() ?? null;
    return await this.#parts.transactionWithEvents(async (tx, record) => {
      const row = await lockStay(tx, tenantId, id);
      if (requestId !== null && requestId === row.status_request_id) {
        return row;
      }
      const refusal = statusRefusal(row.status as ReservationStatus, change);
      if (refusal !== null) {
        // If the response to the COMMIT of an earlier try was lost, the reservation already has the new status.
        if (await store.hasChange(tx, tenantId, wanted.id)) {
          return row;
        }
        throw refusal;
      }
      const update = { status: change.status, status_request_id: requestId };
      const changed = await writeChange(tx, row, update, wanted);
      const type = changed.status === 'cancelled' ? 'reservation.cancelled' : 'reservation.modified';
      await record(...reservationEvent(type, changed, changed.changed_at));
      return changed;
    });
  }
}

/** @throws ApiError 404 `reservation_not_found` */
export async function findOfCaller(
  db: Database,
  { tenantId, credentialId: credential_id }: Caller,
  external_reservation_id: string,
): Promise<store.ReservationRow> {
  const row = await store.findBooked(db, tenantId, { credential_id, external_reservation_id });
  if (row === undefined) {
    throw apiError(
      'reservation_not_found',
      'This credential has booked no reservation with this external_reservation_id.',
    );
  }
  return row;
}
