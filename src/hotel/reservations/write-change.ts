import type { Tx } from '#platform/db/database.ts';
import { insertChange } from './change-store.ts';
import { isVisible, nextChangeTime, recordOf, type WantedChange } from './changes.ts';
import { type ReservationRow, type ReservationUpdate, updateReservation } from './store.ts';

/**
 * Updates a reservation whose row the caller has locked, and records the change of its status or nights. Does not change the night
 * counters.
 * @returns the reservation after the change
 */
export async function writeChange(
  tx: Tx,
  row: ReservationRow,
  update: ReservationUpdate,
  wanted: WantedChange,
): Promise<ReservationRow> {
  const stamped = isVisible(row, update) ? { ...update, changed_at: nextChangeTime(row) } : update;
  const changed = await updateReservation(tx, row.tenant_id, row.id, stamped);
  const record = recordOf(row, changed, wanted);
  if (record !== null) {
    await insertChange(tx, record);
  }
  return changed;
}
