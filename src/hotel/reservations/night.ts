import type { Database } from '#platform/db/database.ts';
import { inTransaction, runTransaction } from '#platform/db/transaction.ts';
import { orNotFound } from '#platform/errors.ts';
import { addDays, type DateText } from '#platform/lib/dates.ts';
import { changeHeld, readHeld } from '../nights/nights.ts';
import { findRoomType } from '../rooms/rooms.ts';
import { readNamesOf } from './changes.ts';
import type { Night, NightEntry } from './night-schema.ts';
import * as store from './night-store.ts';
import { type ReservationStatus, sourceOf } from './reservation-status.ts';

const MAX_STAYS = 1_000;
const MAX_ENTRIES = 200;

/**
 * Returns a night of a room type with its stays and its history. All is read in one snapshot, because a booking between two reads would
 * make the computed numbers of held rooms wrong.
 */
export async function showNight(db: Database, tenantId: number, roomTypeId: string, date: DateText): Promise<Night> {
  const roomType = orNotFound(await findRoomType(db, tenantId, roomTypeId), 'room type');
  const key = { tenant_id: tenantId, room_type_id: roomType.id, date };
  const range = { ...key, check_in: date, check_out: addDays(date, 1) };
  const { held, holders, changes } = await runTransaction(
    db,
    async (tx) => ({
      held: (await readHeld(tx, [range]))[0]?.[0] ?? 0,
      holders: await store.readHolders(tx, key, MAX_STAYS),
      changes: [
        ...(await store.readStayChanges(tx, key, MAX_ENTRIES)),
        ...(await store.readRateChanges(tx, key, `${roomType.property_name} / ${roomType.name}`)),
      ],
    }),
    'snapshot',
  );
  const stays = holders.map((stay) => ({
    ...stay,
    reservation_id: stay.id,
    status: stay.status as ReservationStatus,
    source: sourceOf(stay),
  }));
  return { capacity: roomType.physical_capacity, held, stays, history: await historyOf(db, tenantId, held, changes) };
}

function newestFirst(a: store.NightChange, b: store.NightChange): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}

/** Computes the held rooms after each change backwards from the present number. */
async function historyOf(
  db: Database,
  tenantId: number,
  held: number,
  changes: store.NightChange[],
): Promise<NightEntry[]> {
  const newest = changes.toSorted(newestFirst).slice(0, MAX_ENTRIES);
  const nameOf = await readNamesOf(db, tenantId, newest);
  let heldAfter = held;
  return newest.map((change) => {
    const by = nameOf(change, change.external_source);
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
export async function repairNights(db: Database, tenantId: number): Promise<store.Recount> {
  const found = await store.recount(db, tenantId);
  if (found.differences.length === 0) {
    return found;
  }
  return await inTransaction(db, async (tx) => {
    const locked = found.differences.map((night) => ({ ...night, tenant_id: tenantId, held: 0 }));
    await changeHeld(tx, locked);
    const keys = new Set(locked.map(keyOf));
    const { nights, differences } = await store.recount(tx, tenantId);
    const wrong = differences.filter((night) => keys.has(keyOf(night)));
    const corrections = wrong.map((night) => ({ ...night, tenant_id: tenantId, held: night.counted - night.held }));
    if (corrections.length > 0) {
      await changeHeld(tx, corrections);
    }
    return { nights, differences: wrong };
  });
}

function keyOf({ room_type_id, date }: store.NightDifference): string {
  return `${room_type_id} ${date}`;
}
