import { readActorNames } from '#access/actors/actors.ts';
import type { Database, Db } from '#platform/db/database.ts';
import { runTransaction } from '#platform/db/transaction.ts';
import { notFound } from '#platform/errors.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { findHeld } from '../nights/nights.ts';
import { readCalendars } from '../rates/rates.ts';
import { findRoomType } from '../rooms/rooms.ts';
import { actorOfChange, bookerOf, withName } from './changes.ts';
import type { NightChange } from './night-change.ts';
import { readRateChanges } from './night-rates.ts';
import type { Night, NightEntry, NightStay } from './night-schema.ts';
import {
  type BookedRow,
  type NightChangeRow,
  type NightKey,
  readBookings,
  readHolders,
  readNightChanges,
} from './night-store.ts';
import type { ReservationStatus } from './reservation-status.ts';
import { sourceOf } from './source.ts';

/** Largest number of stays of a night in a response. */
const MAX_STAYS = 1_000;
/** Largest number of entries in the history of a night. */
const MAX_ENTRIES = 200;

/**
 * Returns a night of a room type with its stays and its history. The number of held rooms after each change is computed backwards from the
 * present number. This number and the changes are read in one snapshot, because a booking between two reads would make the result wrong.
 */
export async function showNight(db: Database, tenantId: number, roomTypeId: string, date: DateText): Promise<Night> {
  const roomType = await findRoomType(db, tenantId, roomTypeId);
  if (roomType === null) {
    throw notFound('room type');
  }
  const key = { tenantId, roomTypeId: roomType.id, date };
  const { held, holders, changes } = await runTransaction(
    db,
    async (tx) => ({
      held: await findHeld(tx, key),
      holders: await readHolders(tx, key, MAX_STAYS),
      changes: await readAllChanges(tx, key, `${roomType.property_name} / ${roomType.name}`),
    }),
    'snapshot',
  );
  const stays = holders.map(
    ({ id, natural_id, status, guest_name, check_in, check_out, ...origin }): NightStay => ({
      reservation_id: id,
      natural_id,
      status: status as ReservationStatus,
      source: sourceOf(origin),
      guest_name,
      check_in,
      check_out,
    }),
  );
  return { capacity: roomType.physical_capacity, held, stays, history: await historyOf(db, tenantId, held, changes) };
}

/**
 * Reads the bookings, the changes of stays and the changes of rates that concern the night. Returns the latest `MAX_ENTRIES` of these
 * entries, newest first.
 */
async function readAllChanges(db: Db, key: NightKey, nameOfRoomType: string): Promise<NightChange[]> {
  const { tenantId, roomTypeId, date } = key;
  const plans = await readCalendars(db, tenantId, roomTypeId, date, date);
  const changes = [
    ...(await readBookings(db, key, MAX_ENTRIES)).map(bookingChange),
    ...(await readNightChanges(db, key, MAX_ENTRIES)).map(stayChange),
    ...(await readRateChanges(
      db,
      key,
      plans.map(({ id }) => id),
      nameOfRoomType,
    )),
  ];
  return changes.sort(newestFirst).slice(0, MAX_ENTRIES);
}

function newestFirst(a: NightChange, b: NightChange): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}

function bookingChange(row: BookedRow): NightChange {
  return {
    id: row.id,
    at: row.created_at,
    what: 'booked',
    actor: bookerOf(row),
    added: 1,
    externalSource: row.external_source,
  };
}

function stayChange(row: NightChangeRow): NightChange {
  const isMoved = row.previous_room_type_id !== null;
  return {
    id: row.id,
    at: row.at,
    what: isMoved ? 'changed' : row.holds ? 'booked' : 'cancelled',
    actor: actorOfChange(row),
    added: Number(row.holds) - Number(row.held),
    externalSource: row.external_source,
  };
}

/**
 * Returns the entries of the history. Computes the held rooms after each change backwards from the present number, and adds the names of
 * the actors.
 */
async function historyOf(db: Database, tenantId: number, held: number, changes: NightChange[]): Promise<NightEntry[]> {
  const nameOf = await readActorNames(
    db,
    tenantId,
    changes.map(({ actor }) => actor),
  );
  let heldAfter = held;
  return changes.map(({ at, what, actor, added, externalSource }) => {
    const entry = { at: at.toISOString(), what, by: withName(nameOf, actor, externalSource), held_after: heldAfter };
    heldAfter -= added;
    return entry;
  });
}
