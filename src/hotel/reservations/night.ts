import { readActorNames } from '#access/actors/actors.ts';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction, runTransaction } from '#platform/db/transaction.ts';
import { orNotFound } from '#platform/errors.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { changeHeld, findHeld } from '../nights/nights.ts';
import { findRoomType } from '../rooms/rooms.ts';
import { actorOfChange, withName } from './changes.ts';
import type { Night, NightEntry, NightStay } from './night-schema.ts';
import {
  type NightChange,
  type NightDifference,
  readHolders,
  readRateChanges,
  readStayChanges,
  type Recount,
  recount,
} from './night-store.ts';
import { type ReservationStatus, sourceOf } from './reservation-status.ts';

const MAX_STAYS = 1_000;
const MAX_ENTRIES = 200;

/**
 * Returns a night of a room type with its stays and its history. All is read in one snapshot, because a booking between two reads would
 * make the computed numbers of held rooms wrong.
 */
export async function showNight(db: Database, tenantId: number, roomTypeId: string, date: DateText): Promise<Night> {
  const roomType = orNotFound(await findRoomType(db, tenantId, roomTypeId), 'room type');
  const key = { tenantId, roomTypeId: roomType.id, date };
  const { held, holders, changes } = await runTransaction(
    db,
    async (tx) => ({
      held: await findHeld(tx, key),
      holders: await readHolders(tx, key, MAX_STAYS),
      changes: [
        ...(await readStayChanges(tx, key, MAX_ENTRIES)),
        ...(await readRateChanges(tx, key, `${roomType.property_name} / ${roomType.name}`)),
      ],
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

function newestFirst(a: NightChange, b: NightChange): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}

/** Computes the held rooms after each change backwards from the present number. */
async function historyOf(db: Database, tenantId: number, held: number, changes: NightChange[]): Promise<NightEntry[]> {
  const newest = changes.toSorted(newestFirst).slice(0, MAX_ENTRIES);
  const nameOf = await readActorNames(db, tenantId, newest.map(actorOfChange));
  let heldAfter = held;
  return newest.map((change) => {
    const by = withName(nameOf, actorOfChange(change), change.external_source);
    const entry = { at: change.at.toISOString(), what: change.what, by, held_after: heldAfter };
    heldAfter -= change.added;
    return entry;
  });
}

/**
 * Corrects each night counter that differs from the reservations. May run while bookings arrive.
 *
 * Every transaction that holds or releases a night locks its counter until it commits. So the function first locks the counters that seem
 * wrong, and then counts again.
 * @returns the number of compared nights, and the corrected counters as they were before
 */
export async function repairNights(db: Database, tenantId: number): Promise<Recount> {
  const found = await recount(db, tenantId);
  if (found.differences.length === 0) {
    return found;
  }
  return await inTransaction(db, async (tx) => {
    await changeHeld(
      tx,
      found.differences.map((night) => ({ ...nightOf(tenantId, night), rooms: 0 })),
    );
    const locked = new Set(found.differences.map(keyOf));
    const { nights, differences } = await recount(tx, tenantId);
    const wrong = differences.filter((night) => locked.has(keyOf(night)));
    if (wrong.length > 0) {
      await changeHeld(
        tx,
        wrong.map((night) => ({ ...nightOf(tenantId, night), rooms: night.counted - night.held })),
      );
      await announceChange(tx, tenantId);
    }
    return { nights, differences: wrong };
  });
}

function nightOf(tenantId: number, { room_type_id, date }: NightDifference) {
  return { tenantId, roomTypeId: room_type_id, date };
}

function keyOf({ room_type_id, date }: NightDifference): string {
  return `${room_type_id} ${date}`;
}
