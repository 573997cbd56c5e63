import { batching } from '#platform/db/batching.ts';
import type { Database } from '#platform/db/database.ts';
import { isLockTimeout } from '#platform/db/failures.ts';
import { limitLockWaits } from '#platform/db/transaction.ts';
import { type ApiError, apiError, UnavailableError } from '#platform/errors.ts';
import { countNights } from '#platform/lib/dates.ts';
import { holdNightsOf } from '../nights/nights.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { reservationEvent, nightsOfStay } from './consequences.ts';
import * as store from './store.ts';

/** A stay that may be sold at its price, ready to be written: what is not known yet is whether a room is left. */
export interface Booking {
  row: store.PartnerReservation;
  /** The most rooms of its type that may be held on a night. */
  capacity: number;
}

/** `taken`: another reservation has one of its keys. */
export type BookingOutcome = 'booked' | 'taken';
/** `contended`: a night has not enough rooms for all bookings that want it, or was locked for too long. Nothing was written. */
type TryOutcome = BookingOutcome | 'contended';

/** While one batch waits for its flush to disk, another is written. */
const BATCHES_UNDER_WAY = 2;
/** A longer stay goes alone: the others would wait for its nights. */
const MAX_NIGHTS_TOGETHER = 31;
/** If a lock is held longer (a hung transaction), only bookings for that night wait. */
const MAX_LOCK_WAIT_MS = 250;

/**
 * Makes the function that writes a booking: the reservation, its nights and its event, all of it or nothing.
 *
 *     together with others ── booked, taken
 *          │ contended, or a stay of more than 31 nights
 *        alone ── booked, taken
 *          │ contended
 *     409 room_not_available
 *
 * Bookings that arrive together, of any tenants, are one transaction, which divides the cost of its statements and of its commit by
 * their number. A batch that fails is tried one by one (`batching`).
 */
export function createBooker(
  db: Database,
  transactionWithEvents: TransactionWithEvents,
): (booking: Booking) => Promise<BookingOutcome> {
  const bookTogether = batching(db, {
    many: (bookings: Booking[]) => write(transactionWithEvents, bookings, MAX_LOCK_WAIT_MS),
    maxUnderWay: BATCHES_UNDER_WAY,
  });
  return async (booking) => {
    const { check_in, check_out } = booking.row;
    const isLong = countNights(check_in, check_out) > MAX_NIGHTS_TOGETHER;
    const together = isLong ? 'contended' : await bookTogether(booking);
    if (together !== 'contended') {
      return together;
    }
    const [alone] = await write(transactionWithEvents, [booking], null);
    if (alone === 'booked' || alone === 'taken') {
      return alone;
    }
    throw notAvailable();
  };
}

/**
 * Writes bookings in one transaction.
 * @param maxLockWaitMs null: as long as a statement may take
 * @returns the outcome of each in turn
 */
async function write(
  transactionWithEvents: TransactionWithEvents,
  bookings: Booking[],
  maxLockWaitMs: number | null,
): Promise<TryOutcome[]> {
  try {
    return await transactionWithEvents(async (tx, record) => {
      if (maxLockWaitMs !== null) {
        await limitLockWaits(tx, maxLockWaitMs);
      }
      const rows = bookings.map(({ row }) => row);
      const inserted = await store.insertReservations(tx, rows);
      const stays = bookings.filter(({ row }) => inserted.has(row.id)).map(stayOf);
      const contended = await holdNightsOf(tx, stays);
      if (contended.size === bookings.length) {
        throw ALL_CONTENDED; // Nothing is left to be committed.
      }
      await store.removeReservations(
        tx,
        [...contended].map(({ row }) => row),
      );
      const booked = stays.filter((stay) => !contended.has(stay)).map(({ row }) => row);
      await record(...booked.map((row) => reservationEvent('reservation.created', row)));
      return rows.map((row) => (booked.includes(row) ? 'booked' : inserted.has(row.id) ? 'contended' : 'taken'));
    });
  } catch (error) {
    if (error === ALL_CONTENDED || (error instanceof UnavailableError && isLockTimeout(error.cause))) {
      return bookings.map(() => 'contended');
    }
    throw error;
  }
}

const ALL_CONTENDED = new Error('each of these bookings has to go alone');

function stayOf({ row, capacity }: Booking) {
  return { tenantId: row.tenant_id, hold: nightsOfStay(row), capacity, row };
}

export function notAvailable(): ApiError {
  return apiError('room_not_available', 'This room type is not available for these dates.');
}
