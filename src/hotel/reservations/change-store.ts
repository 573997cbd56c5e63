import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, Tx } from '#platform/db/database.ts';
import type { ReservationChange } from '#platform/db/types.ts';

export type NewReservationChange = Insertable<ReservationChange>;
export type ReservationChangeRow = Selectable<ReservationChange>;

/**
 * Largest number of status changes in the history of one stay. Older changes are left out, because an OTA may change a stay any number of
 * times.
 */
export const MAX_CHANGES = 200;

/**
 * Inserts one row of the history of a reservation. The row records a change of the reservation, or a booking that the hotel itself made.
 * @returns false if the row is a repeat and was not inserted. There are two cases:
 * - An earlier try of the same transaction has already stored the row.
 * - The row records a booking, and the tenant has already stored a booking with the same `booking_request_id`. This id is the `request_id`
 *   that staff sent with the booking.
 */
export async function insertChange(tx: Tx, change: NewReservationChange): Promise<boolean> {
  const inserted = await tx
    .insertInto('reservation_change')
    .values(change)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/**
 * Returns true if the change is stored already. Then an earlier try of the same transaction was committed, but the response to its COMMIT
 * was lost.
 */
export async function hasChange(tx: Tx, tenantId: number, id: string): Promise<boolean> {
  const found = await tx
    .selectFrom('reservation_change')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
  return found !== undefined;
}

/** Returns the id of the reservation that staff booked with this `request_id`. Returns undefined if no booking has this `request_id`. */
export async function findBooked(db: Db, tenantId: number, requestId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('reservation_change')
    .select('reservation_id')
    .where('tenant_id', '=', tenantId)
    .where('booking_request_id', '=', requestId)
    .executeTakeFirst();
  return found?.reservation_id;
}

/** Reads the newest `MAX_CHANGES` changes of the status of a reservation, and returns them oldest first. */
export async function readStatusChanges(
  db: Db,
  tenantId: number,
  reservationId: string,
): Promise<ReservationChangeRow[]> {
  const newest = await db
    .selectFrom('reservation_change')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('reservation_id', '=', reservationId)
    .where(sql<boolean>`previous_status IS DISTINCT FROM status`)
    .orderBy('at', 'desc')
    .limit(MAX_CHANGES)
    .execute();
  return newest.reverse();
}
