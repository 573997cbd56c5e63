import type { Hold } from '../nights/nights.ts';
import type { EventInput } from '#webhooks/events/events.ts';
import { HOLDING_STATUSES, type ReservationStatus } from './reservation-status.ts';
import type { PartnerReservation, ReservationRow } from './store.ts';

/** Returns the nights that a reservation holds. Returns null if a reservation with this status holds no nights. */
export function holdOf(row: Pick<ReservationRow, 'status' | 'room_type_id' | 'check_in' | 'check_out'>): Hold | null {
  return HOLDING_STATUSES.includes(row.status as ReservationStatus) ? nightsOfStay(row) : null;
}

/** Returns the nights of a stay, from check-in to the night before check-out, for any status of the reservation. */
export function nightsOfStay(row: Pick<ReservationRow, 'room_type_id' | 'check_in' | 'check_out'>): Hold {
  return { roomTypeId: row.room_type_id, checkIn: row.check_in, checkOut: row.check_out };
}

/**
 * Returns the event that reports a booking, or a change of the status, to the partner that booked the stay.
 * @param occurredAt time of the booking or of the change, as the history shows it
 */
export function reservationEvent(
  type: 'reservation.created' | 'reservation.modified' | 'reservation.cancelled',
  { tenant_id, id, credential_id, external_reservation_id, status }: Pick<PartnerReservation, EventField>,
  occurredAt: Date,
): EventInput {
  return {
    tenantId: tenant_id,
    credentialId: credential_id,
    type,
    occurredAt,
    data: { reservation_id: id, external_reservation_id, status },
    subject: { type: 'reservation', id, external_id: external_reservation_id },
  };
}

type EventField = 'tenant_id' | 'id' | 'credential_id' | 'external_reservation_id' | 'status';
