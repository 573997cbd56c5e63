import { announceChange } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { changeHeld } from '../nights/nights.ts';
import { type NightDifference, type Recount, recount } from './recount-store.ts';

/**
 * Counts the nights of the tenant like `recount`, and corrects each night counter that differs from the reservations. May run while
 * bookings arrive.
 *
 * Every transaction that holds or releases a night locks its counter until it commits. So the function first locks the counters that seem
 * wrong, and then counts again. The second count includes every stay whose transaction has changed one of these counters. Only bookings and
 * changes that need one of these nights wait, until this transaction ends.
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
      await announceChange(tx, tenantId, null);
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
