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

/** New reservation of a partner with its price. It has passed all checks, except the check that each night has a room left. */
export interface Booking {
  row: store.PartnerReservation;
  /** Largest number of rooms of the room type that may be held on one night. */
  capacity: number;
}

/**
 * Outcome of a booking. `taken` means that it was not stored, because another reservation has the same external id or the same natural id
 * (short random code).
 */
export type BookingOutcome = 'booked' | 'taken';
/**
 * Outcome of one attempt to write a booking. `contended` means that a night has too few rooms for all bookings of the batch that need it,
 * or that another transaction locked a night for too long. A contended booking writes no rows. If it was in a batch, it is tried again in a
 * transaction of its own.
 */
type TryOutcome = BookingOutcome | 'contended';

/**
 * Longest stay, in nights, that may be in a batch. A longer stay has its own transaction, so that the other bookings do not wait until its
 * many nights are written.
 */
const MAX_NIGHTS_IN_BATCH = 31;
/**
 * Longest time in milliseconds that a batch waits for a lock. After this time the bookings of the batch are tried one by one. So if a
 * transaction hangs and keeps a night locked, only the bookings for that night wait longer.
 */
const MAX_LOCK_WAIT_MS = 250;

/**
 * Creates the function that writes one booking: the reservation, its nights and its event, in one transaction. There are two steps. The
 * outcome `contended` of a step means that a night has too few rooms left, or that another transaction locked a night for too long.
 * 1. If the stay has at most 31 nights, the booking is tried in a batch. If the batch fails with an error, each of its bookings is tried
 *    again in a batch of one booking. If the database is unavailable, the bookings are not tried again.
 * 2. If the outcome of step 1 is `contended`, or if the stay has more than 31 nights, the booking is tried in a transaction without other
 *    bookings. If the outcome of step 2 is `contended`, the function throws 409 `room_not_available`.
 *
 * The function `batching` does step 1, and puts bookings that arrive together into one batch. On one database node, a batch may have
 * bookings of several tenants. A batch is one transaction, so its bookings share the cost of the statements and of the commit.
 */
export function createBooker(
  db: Database,
  transactionWithEvents: TransactionWithEvents,
): (booking: Booking) => Promise<BookingOutcome> {
  const bookInBatch = batching(
    db,
    (bookings: Booking[]) => write(transactionWithEvents, bookings, MAX_LOCK_WAIT_MS),
    ({ row }) => row.tenant_id,
  );
  return async (booking) => {
    const { check_in, check_out } = booking.row;
    const nights = countNights(check_in, check_out);
    const inBatch = nights > MAX_NIGHTS_IN_BATCH ? 'contended' : await bookInBatch(booking);
    if (inBatch !== 'contended') {
      return inBatch;
    }
    const [byItself] = await write(transactionWithEvents, [booking], null);
    if (byItself === 'booked' || byItself === 'taken') {
      return byItself;
    }
    throw notAvailable();
  };
}

/**
 * Writes bookings in one transaction.
 * @param maxLockWaitMs longest wait for a lock in milliseconds. If null, only the time limit of the statement ends the wait
 * @returns the outcomes in the order of the bookings
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
        throw ALL_CONTENDED;
      }
      await store.removeReservations(
        tx,
        [...contended].map(({ row }) => row),
      );
      const booked = stays.filter((stay) => !contended.has(stay)).map(({ row }) => row);
      await record(...booked.map((row) => reservationEvent('reservation.created', row, row.created_at)));
      return rows.map((row) => (booked.includes(row) ? 'booked' : inserted.has(row.id) ? 'contended' : 'taken'));
    });
  } catch (error) {
    if (error === ALL_CONTENDED || (error instanceof UnavailableError && isLockTimeout(error.cause))) {
      return bookings.map(() => 'contended');
    }
    throw error;
  }
}

const ALL_CONTENDED = new Error(
  'No booking of this transaction got a room on all its nights. This error only rolls back the transaction.',
);

function stayOf({ row, capacity }: Booking) {
  return { tenantId: row.tenant_id, hold: nightsOfStay(row), capacity, row };
}

export function notAvailable(): ApiError {
  return apiError('room_not_available', 'This room type is not available for these dates.');
}
