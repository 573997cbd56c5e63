import type { Hold } from '../nights/nights.ts';
import type { EventInput } from '#webhooks/events/events.ts';
import { HOLDING_STATUSES, type ReservationStatus } from './reservation-status.ts';
import type { PartnerReservation, ReservationRow } from './store.ts';

/** The nights a reservation takes in its status; null: none. */
export function holdOf(row: Pick<ReservationRow, 'status' | 'room_type_id' | 'check_in' | 'check_out'>): Hold | null {
  return HOLDING_STATUSES.includes(row.status as ReservationStatus) ? nightsOfStay(row) : null;
}

/** The nights from check-in to check-out. */
export function nightsOfStay(row: Pick<ReservationRow, 'room_type_id' | 'check_in' | 'check_out'>): Hold {
  return { roomTypeId: row.room_type_id, checkIn: row.check_in, checkOut: row.check_out };
}

/** What the partner that booked a reservation is told of it. */
export function reservationEvent(
  type: 'reservation.created' | 'reservation.modified' | 'reservation.cancelled',
  { tenant_id, id, credential_id, external_reservation_id, status }: Pick<PartnerReservation, Told>,
): EventInput {
  return {
    tenantId: tenant_id,
    credentialId: credential_id,
    type,
    occurredAt: new Date(),
    data: { reservation_id: id, external_reservation_id, status },
  };
}

type Told = 'tenant_id' | 'id' | 'credential_id' | 'external_reservation_id' | 'status';
