import { batching } from '../db/batching.ts';
import type { Database } from '../db/database.ts';
import { isLockTimeout } from '../db/failures.ts';
import { inTransaction, limitLockWaits } from '../db/transaction.ts';
import { type ApiError, apiError } from '../errors.ts';
import { countNights } from '../lib/dates.ts';
import { holdTogether, moveHold } from '../nights/nights.ts';
import type { EventLog, PreparedEvent } from '../webhooks/webhooks.ts';
import { happeningOf, nightsOfStay } from './consequences.ts';
import * as store from './store.ts';

/** A stay that may be sold at its price, ready to be written: what is not known yet is whether a room is left. */
export interface Booking {
  row: store.PartnerReservation;
  /** The most rooms of its type that may be held on a night. */
  capacity: number;
  event: PreparedEvent;
}

/** `taken`: another reservation has one of its keys. */
export type BookingOutcome = 'booked' | 'taken';

interface Dependencies {
  db: Database;
  events: EventLog;
  /** Bookings of one transaction at most (`batchSizeOf`). */
  batchSize: number;
}

/** While one batch waits for its flush to disk, another is written. */
const BATCHES_UNDER_WAY = 2;
/** A longer stay goes alone: the others would wait for its nights. */
const MAX_NIGHTS_TOGETHER = 31;
/** Whoever holds a night for longer, as a transaction that hangs, delays those alone who want it. */
const MAX_LOCK_WAIT_MS = 250;

/**
 * Makes what writes bookings: the reservation, its nights and its event, all of it or nothing. Bookings that arrive together, of
 * whatever tenants, go as one transaction, which divides the cost of its statements and of its commit by their number.
 * It throws 409 `room_not_available` where a night is full.
 */
export function createBooker(dependencies: Dependencies): (booking: Booking) => Promise<BookingOutcome> {
  const { db, batchSize } = dependencies;
  const bookWithOthers = batching({
    one: (booking: Booking) => bookAlone(db, booking),
    many: (bookings) => bookTogether(dependencies, bookings),
    minSize: 1, // A lone one that waits for a lock must not keep those waiting that come after it, either.
    maxSize: batchSize,
    maxUnderWay: BATCHES_UNDER_WAY,
  });
  return (booking) => {
    const { check_in, check_out } = booking.row;
    return countNights(check_in, check_out) > MAX_NIGHTS_TOGETHER ? bookAlone(db, booking) : bookWithOthers(booking);
  };
}

async function bookAlone(db: Database, { row, capacity, event }: Booking): Promise<BookingOutcome> {
  return await inTransaction(db, async (tx) => {
    if (!(await store.insertReservation(tx, row))) {
      return 'taken';
    }
    if (!(await moveHold(tx, row.tenant_id, null, nightsOfStay(row), capacity))) {
      throw notAvailable();
    }
    await event.record(tx, happeningOf('reservation.created', row));
    return 'booked';
  });
}

/** Those that want a night which has not enough rooms left for all of them go alone, as everyone does where that happens twice. */
async function bookTogether(dependencies: Dependencies, bookings: Booking[]) {
  let together = bookings;
  let outcomes: Map<Booking, BookingOutcome> | null = null;
  for (let tries = 0; outcomes === null && tries < 2 && together.length > 0; tries += 1) {
    try {
      outcomes = await writeTogether(dependencies, together);
    } catch (error) {
      if (!(error instanceof Undone)) {
        throw error;
      }
      const { causes } = error;
      together = together.filter((booking) => !causes.includes(booking));
    }
  }
  return bookings.map((booking) => outcomes?.get(booking) ?? bookAlone(dependencies.db, booking));
}

/** Nothing of a batch was written, because of these in it. */
class Undone extends Error {
  readonly causes: Booking[];

  constructor(causes: Booking[]) {
    super('these bookings have to go alone');
    this.causes = causes;
  }
}

/** @throws Undone where a night is full, or was locked for too long */
async function writeTogether({ db, events }: Dependencies, bookings: Booking[]) {
  return await inTransaction(db, async (tx) => {
    try {
      await limitLockWaits(tx, MAX_LOCK_WAIT_MS);
      const inserted = await store.insertReservations(
        tx,
        bookings.map(({ row }) => row),
      );
      const fresh = bookings.filter(({ row }) => inserted.has(row.id));
      const refused = await holdTogether(tx, fresh.map(stayOf));
      if (refused.size > 0) {
        throw new Undone([...refused].map(({ booking }) => booking));
      }
      await events.recordAll(
        tx,
        fresh.map(({ row, event }) => ({ event, happening: happeningOf('reservation.created', row) })),
      );
      return new Map(bookings.map((booking) => [booking, inserted.has(booking.row.id) ? 'booked' : 'taken'] as const));
    } catch (error) {
      throw isLockTimeout(error) ? new Undone(bookings) : error;
    }
  });
}

function stayOf(booking: Booking) {
  const { row, capacity } = booking;
  return { tenantId: row.tenant_id, hold: nightsOfStay(row), capacity, booking };
}

export function notAvailable(): ApiError {
  return apiError('room_not_available', 'This room type is not available for these dates.');
}
