import { readActorNames } from '#access/actors/actors.ts';
import type { Database } from '#platform/db/database.ts';
import { nightsOf } from '#platform/lib/dates.ts';
import { actorOfChange, bookerOf, withName } from './changes.ts';
import { MAX_CHANGES, readStatusChanges } from './change-store.ts';
import type { LabelledRow } from './list-store.ts';
import type { ReservationStatus } from './reservation-status.ts';
import { sourceOf } from './source.ts';
import type { StaffReservation, StaffReservationWithHistory } from './staff-schema.ts';

/** Returns the reservation as lists of the staff API show it. */
export function staffShape(row: LabelledRow): StaffReservation {
  return {
    reservation_id: row.id,
    natural_id: row.natural_id,
    status: row.status as ReservationStatus,
    source: sourceOf(row),
    credential_id: row.credential_id,
    credential_label: row.credential_label,
    external_reservation_id: row.external_reservation_id,
    external_source: row.external_source,
    external_id: row.external_id,
    room_type_id: row.room_type_id,
    rate_plan_id: row.rate_plan_id,
    check_in: row.check_in,
    check_out: row.check_out,
    guests: row.guests,
    guest: { name: row.guest_name, phone: row.guest_phone, email: row.guest_email },
    total_amount: row.total_amount,
    nightly_prices: pricesOf(row),
    currency: row.currency,
    created_at: row.created_at.toISOString(),
    changed_at: row.changed_at.toISOString(),
    arrived_at: row.arrived_at?.toISOString() ?? null,
  };
}

/**
 * Returns the price of each night, or null if the prices are unknown.
 */
function pricesOf({ nightly_prices: prices, check_in, check_out }: LabelledRow): StaffReservation['nightly_prices'] {
  const nights = nightsOf(check_in, check_out);
  return prices?.length === nights.length ? prices.map((price, night) => ({ date: nights[night] ?? '', price })) : null;
}

/** Returns the reservation with its history. */
export async function shapeWithHistory(db: Database, row: LabelledRow): Promise<StaffReservationWithHistory> {
  return { ...staffShape(row), history: await readHistory(db, row) };
}

/**
 * Returns the history of a stay: the booking, then the changes of the status.
 * - A booking by the hotel itself is stored like a change.
 * - A booking by a partner or an OTA is not stored like a change. The function makes its entry with the time and the booker from the row of
 *   the stay. The status in this entry is the status before the first change, or the present status if there is no change.
 * - If `MAX_CHANGES` changes were read, older changes may be missing. Then the first change is unknown, and so is the status at the
 *   booking. So the function leaves out the entry of a booking by a partner or an OTA.
 */
async function readHistory(db: Database, row: LabelledRow): Promise<StaffReservationWithHistory['history']> {
  const changes = await readStatusChanges(db, row.tenant_id, row.id);
  const booking = {
    status: changes[0]?.previous_status ?? row.status,
    at: row.created_at,
    actor: bookerOf(row),
    reason: null,
  };
  const steps = changes.map((change) => ({ ...change, actor: actorOfChange(change) }));
  const all = sourceOf(row) === 'house' || changes.length === MAX_CHANGES ? steps : [booking, ...steps];
  const nameOf = await readActorNames(
    db,
    row.tenant_id,
    all.map(({ actor }) => actor),
  );
  return all.map(({ status, at, actor, reason }) => ({
    status: status as ReservationStatus,
    at: at.toISOString(),
    by: withName(nameOf, actor, row.external_source),
    reason,
  }));
}
