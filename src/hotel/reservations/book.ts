import type { Caller } from '#access/credentials/credentials.ts';
import { changeActorOf } from '#access/actors/actors.ts';
import { type NewAuditEntry, prepareAudit, type WriteAuditEntry } from '#access/audit/audit.ts';
import { actorOf, type Staff } from '#access/tenants/tenants.ts';
import { batching } from '#platform/db/batching.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { isLockTimeout } from '#platform/db/failures.ts';
import { limitLockWaits } from '#platform/db/transaction.ts';
import { ApiError, UnavailableError } from '#platform/errors.ts';
import { countNights } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { newNaturalId } from '#platform/lib/natural-id.ts';
import { holdNightsOf } from '../nights/nights.ts';
import { checkAmounts, type Quote, type RateReader, type StayRange } from '../rates/rates.ts';
import type { FindRoomType } from '../rooms/rooms.ts';
import type { RecordEvents, TransactionWithEvents } from '#webhooks/events/events.ts';
import { holdOf, reservationEvent, stateOf, wantedChange } from './changes.ts';
import { checkRange, nightFull, priceOf, type RequestedStay, sellStay } from './checks.ts';
import type { ReservationStatus } from './reservation-status.ts';
import type { ReservationCreate } from './schema.ts';
import type { HouseBooking } from './staff-schema.ts';
import * as store from './store.ts';

export interface StayInput extends RequestedStay {
  guest: { name: string; phone?: string | null; email?: string | null };
  /** If undefined, the rate plan gives the price. */
  total_amount?: string | number | undefined;
  /** Default: `confirmed`. */
  status?: ReservationStatus;
}

type Booker = Pick<Staff, 'type' | 'id' | 'tenant'>;

/**
 * Origin of a new stay, with the key under which a repeated call finds the stay of an earlier call.
 * - `partner`: the stay must be for sale, and causes an event.
 * - `house`: the stay must be for sale unless staff overbook, and causes an audit entry and an entry of the history.
 * - `ota`: the OTA has already sold the stay, so it is accepted even if no room is left. It causes neither an event nor an audit entry.
 */
export type BookingSource = { tenantId: number; currency: string } & (
  | { type: 'partner'; key: store.PartnerKey }
  | { type: 'house'; key: store.HouseKey; staff: Booker; overbook: boolean }
  | { type: 'ota'; key: store.OtaKey; timestamp: number; signature: string }
);

/** Takes only the fields of the contract, because a body may have other fields, for example an amount. */
export function partnerBooking(caller: Caller, body: ReservationCreate): [StayInput, BookingSource] {
  const { tenantId, currency, credentialId: credential_id } = caller;
  const { external_reservation_id, room_type_id, check_in, check_out, guests, guest } = body;
  return [
    { room_type_id, check_in, check_out, guests, guest },
    { type: 'partner', tenantId, currency, key: { credential_id, external_reservation_id } },
  ];
}

export function houseBooking(staff: Booker, body: HouseBooking): [StayInput, BookingSource] {
  const { room_type_id, rate_plan_id, check_in, check_out, guests, guest, total_amount, overbook = false } = body;
  const { id: tenantId, currency } = staff.tenant;
  const key = { booking_request_id: body.request_id.toLowerCase() };
  return [
    { room_type_id, rate_plan_id, check_in, check_out, guests, guest, total_amount },
    { type: 'house', tenantId, currency, key, staff, overbook },
  ];
}

interface BookedStay {
  row: store.StayRow;
  /** True if an earlier call has booked the stay. */
  isReplayed: boolean;
}

/**
 * Books a stay. If an earlier call has used the key of the source, books nothing, and returns the stay of that call, even if the stay could
 * not be booked now (rule 22).
 * @throws ApiError 404 `room_type_not_found`, 404 (code `error`) for an unknown rate plan, 409 `room_not_available`, 400
 * `invalid_request`. For an OTA, an unknown room type is 404 with the code `error`.
 */
export type Book = (input: StayInput, source: BookingSource) => Promise<BookedStay>;

export interface BookingParts {
  db: Database;
  transactionWithEvents: TransactionWithEvents;
  findRoomType: FindRoomType;
  rates: RateReader;
}

interface Booking {
  row: store.StayRow;
  hold: StayRange | null;
  /** If infinite, the number of held rooms is not checked. */
  capacity: number;
  house: { change: store.NewReservationChange; recordAudit: WriteAuditEntry; entry: NewAuditEntry } | null;
}

/**
 * - `taken`: another reservation has the same key, or the same natural id (short random code).
 * - `contended`: a night has too few rooms for all bookings of the batch, or another transaction locked it for too long.
 * The attempt writes rows only if the outcome is `booked`.
 */
type Outcome = 'booked' | 'taken' | 'contended';

/** A longer stay has its own transaction, so that the other bookings of a batch do not wait until its many nights are written. */
const MAX_NIGHTS_IN_BATCH = 31;
/**
 * After this time the bookings of a batch are tried one by one. So if a transaction hangs and keeps a night locked, only the bookings for
 * that night wait longer.
 */
const MAX_LOCK_WAIT_MS = 250;

/**
 * Creates the function that books stays. A booking of a partner is first tried in a batch, with the bookings that arrive together. If it is
 * contended there, or is no booking for a batch, it is tried in a transaction of its own.
 */
export function createBook({ db, transactionWithEvents, findRoomType, rates }: BookingParts): Book {
  const bookInBatch = batching(
    db,
    (bookings: Booking[]) => write(transactionWithEvents, bookings, MAX_LOCK_WAIT_MS),
    ({ row }) => row.tenant_id,
  );
  async function bookOne(booking: Booking): Promise<Outcome> {
    const { credential_id, check_in, check_out } = booking.row;
    const isBatched = credential_id !== null && countNights(check_in, check_out) <= MAX_NIGHTS_IN_BATCH;
    const inBatch = isBatched ? await bookInBatch(booking) : 'contended';
    const [outcome] = inBatch === 'contended' ? await write(transactionWithEvents, [booking], null) : [inBatch];
    if (outcome !== 'booked' && outcome !== 'taken') {
      throw nightFull();
    }
    return outcome;
  }
  async function bookNew(input: StayInput, source: BookingSource): Promise<{ row: store.StayRow; outcome: Outcome }> {
    const overbook = source.type === 'ota' || (source.type === 'house' && source.overbook);
    const { roomType, quote } = await sellStay({ findRoomType, rates }, source, input, overbook);
    const row = newStay({ ...input, room_type_id: roomType.id }, source, quote);
    const house = source.type === 'house' ? houseRecord(row, source) : null;
    const capacity = overbook ? Infinity : roomType.physical_capacity;
    return { row, outcome: await bookOne({ row, hold: holdOf(row), capacity, house }) };
  }
  return async function book(input, source): Promise<BookedStay> {
    checkRange(input);
    if (source.type === 'house') {
      checkAmounts([['total_amount', input.total_amount]], source.currency);
    }
    const tried = await bookNew(input, source).catch((error: unknown) => {
      if (error instanceof ApiError) {
        return error;
      }
      throw error;
    });
    if (!(tried instanceof ApiError) && tried.outcome === 'booked') {
      return { row: tried.row, isReplayed: false };
    }
    const stored = await store.findBooked(db, source.tenantId, source.key);
    if (stored !== undefined) {
      // If the response to the COMMIT was lost, the second try of the transaction has found the stay of the first try.
      return { row: stored, isReplayed: tried instanceof ApiError || stored.id !== tried.row.id };
    }
    if (tried instanceof ApiError) {
      throw tried;
    }
    // Another reservation has the same natural id, which has a chance of about one in a million. The next try makes a new natural id.
    return await book(input, source);
  };
}

function newStay(input: StayInput, source: BookingSource, quote: Quote): store.StayRow {
  const { guest } = input;
  return {
    tenant_id: source.tenantId,
    id: newId(),
    natural_id: newNaturalId(),
    ...NO_KEY,
    ...(source.type === 'house' ? {} : source.key),
    channel_timestamp: source.type === 'ota' ? source.timestamp : null,
    channel_signatures: source.type === 'ota' ? [source.signature] : null,
    status: input.status ?? 'confirmed',
    room_type_id: input.room_type_id,
    rate_plan_id: quote.rate_plan?.id ?? null,
    check_in: input.check_in,
    check_out: input.check_out,
    guests: input.guests ?? 1,
    guest_name: guest.name,
    guest_phone: guest.phone ?? null,
    // An empty text is not an email address, so it is stored as null.
    guest_email: guest.email === '' ? null : (guest.email ?? null),
    ...priceOf(quote, source.currency, input.total_amount),
    currency: source.currency,
    created_at: new Date(),
  };
}

const NO_KEY = { credential_id: null, external_reservation_id: null, external_source: null, external_id: null };

function houseRecord(row: store.StayRow, { staff, key, overbook }: BookingSource & { type: 'house' }) {
  const { natural_id, room_type_id, check_in, check_out, guests, total_amount } = row;
  return {
    change: { ...stateOf(row), ...key, ...wantedChange(changeActorOf(staff)), at: row.created_at },
    recordAudit: prepareAudit(actorOf(staff)),
    entry: {
      action: 'reservation.booked' as const,
      subject: row.id,
      details: { natural_id, room_type_id, check_in, check_out, guests, total_amount, overbook },
    },
  };
}

/** If `maxLockWaitMs` is null, only the time limit of the statement ends the wait for a lock. */
async function write(
  transactionWithEvents: TransactionWithEvents,
  bookings: Booking[],
  maxLockWaitMs: number | null,
): Promise<Outcome[]> {
  try {
    return await transactionWithEvents(async (tx, record) => {
      if (maxLockWaitMs !== null) {
        await limitLockWaits(tx, maxLockWaitMs);
      }
      return await writeBookings(tx, bookings, record);
    });
  } catch (error) {
    if (error instanceof NoneBooked) {
      return bookings.map(() => error.outcome);
    }
    if (error instanceof UnavailableError && isLockTimeout(error.cause)) {
      return bookings.map(() => 'contended');
    }
    throw error;
  }
}

/** Only rolls back the transaction, and tells the outcome of all its bookings. */
class NoneBooked extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(`Each booking of this transaction is ${outcome}.`);
    this.outcome = outcome;
  }
}

/** A reservation waits for another one with the same key before it locks a night. */
async function writeBookings(tx: Tx, bookings: Booking[], record: RecordEvents): Promise<Outcome[]> {
  const inserted = await store.insertReservations(
    tx,
    bookings.map(({ row }) => row),
  );
  const written = bookings.filter(({ row }) => inserted.has(row.id));
  for (const { house } of written) {
    // A booking of the hotel itself is alone in its transaction.
    if (house !== null && !(await store.insertChange(tx, house.change))) {
      throw new NoneBooked('taken');
    }
  }
  const refused = await holdNightsOf(tx, written);
  if (refused.size === bookings.length) {
    throw new NoneBooked('contended');
  }
  await store.removeReservations(
    tx,
    [...refused].map(({ row }) => row),
  );
  const booked = written.filter((booking) => !refused.has(booking));
  await record(...booked.flatMap(({ row }) => reservationEvent('reservation.created', row, row.created_at)));
  for (const { house } of booked) {
    await house?.recordAudit(tx, house.entry);
  }
  return bookings.map((each) => (booked.includes(each) ? 'booked' : refused.has(each) ? 'contended' : 'taken'));
}
