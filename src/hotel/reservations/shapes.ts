import type { Database } from '#platform/db/database.ts';
import { instantOf, nightsOf } from '#platform/lib/dates.ts';
import type { Clock } from '../rooms/rooms.ts';
import { bookerOf, readNamesOf } from './changes.ts';
import { findStay } from './checks.ts';
import type { LabelledRow } from './list-store.ts';
import { type ReservationStatus, sourceOf } from './reservation-status.ts';
import type { PmsReservation, ReservationResponse } from './schema.ts';
import type { StaffReservation, StaffReservationWithHistory } from './staff-schema.ts';
import { MAX_CHANGES, readStatusChanges, type StayRow } from './store.ts';

export function partnerShape(row: StayRow): ReservationResponse {
  return {
    success: true,
    reservation_id: row.id,
    external_reservation_id: row.external_reservation_id ?? '',
    status: row.status as ReservationStatus,
    room_type_id: row.room_type_id,
    check_in: row.check_in,
    check_out: row.check_out,
    guests: row.guests,
    total_amount: row.total_amount,
    currency: row.currency,
    created_at: row.created_at.toISOString(),
  };
}

/** The dates become times in UTC (rule 28). */
export function pmsShape(row: StayRow, clock: Clock): PmsReservation {
  return {
    id: row.id,
    natural_id: row.natural_id,
    status: row.status as ReservationStatus,
    check_in_date: instantOf(row.check_in, clock.check_in_time, clock.timezone),
    check_out_date: instantOf(row.check_out, clock.check_out_time, clock.timezone),
    room_type_id: row.room_type_id,
    total_amount: row.total_amount,
    external_source: row.external_source,
    external_id: row.external_id,
    guest: { full_name: row.guest_name, phone: row.guest_phone, email: row.guest_email },
  };
}

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

function pricesOf({ nightly_prices: prices, check_in, check_out }: LabelledRow): StaffReservation['nightly_prices'] {
  const nights = nightsOf(check_in, check_out);
  return prices?.length === nights.length ? prices.map((price, night) => ({ date: nights[night] ?? '', price })) : null;
}

/** @throws ApiError 404 (code `error`) if the id is unknown */
export async function showStay(db: Database, tenantId: number, id: string): Promise<StaffReservationWithHistory> {
  const row = await findStay(db, tenantId, id);
  return { ...staffShape(row), history: await readHistory(db, row) };
}

/**
 * Only a booking by the hotel itself is stored like a change. If `MAX_CHANGES` changes were read, older changes may be missing, so the
 * status at the booking is unknown. Then the entry of another booking is left out.
 */
async function readHistory(db: Database, row: LabelledRow): Promise<StaffReservationWithHistory['history']> {
  const changes = await readStatusChanges(db, row.tenant_id, row.id);
  const booking = {
    status: changes[0]?.previous_status ?? row.status,
    at: row.created_at,
    ...bookerOf(row),
    reason: null,
  };
  const all = sourceOf(row) === 'house' || changes.length === MAX_CHANGES ? changes : [booking, ...changes];
  const nameOf = await readNamesOf(db, row.tenant_id, all);
  return all.map((step) => ({
    status: step.status as ReservationStatus,
    at: step.at.toISOString(),
    by: nameOf(step, row.external_source),
    reason: step.reason,
  }));
}
