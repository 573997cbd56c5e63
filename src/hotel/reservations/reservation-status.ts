import type { ReservationRow } from './store.ts';

/** Statuses of a reservation (PMS contract §3). */
export const RESERVATION_STATUSES = ['pending', 'confirmed', 'cancelled', 'no_show', 'completed', 'expired'] as const;
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

/** Statuses to which staff may change a reservation (rule 23). */
const FOLLOWING: Record<ReservationStatus, readonly ReservationStatus[]> = {
  pending: ['confirmed', 'expired', 'cancelled'],
  confirmed: ['completed', 'no_show', 'cancelled'],
  no_show: ['cancelled'],
  expired: ['cancelled'],
  completed: [],
  cancelled: [],
};

/** Statuses in which a reservation holds a room on its nights (rule 23). */
export const HOLDING_STATUSES: readonly ReservationStatus[] = ['pending', 'confirmed', 'completed', 'no_show'];

export function mayFollow(from: ReservationStatus, to: ReservationStatus): boolean {
  return FOLLOWING[from].includes(to);
}

/** Cancelled and completed reservations are final (contract §3). */
export function mayCancel(from: ReservationStatus): boolean {
  return from !== 'cancelled' && from !== 'completed';
}

/** Origins of a stay: a partner booked it, an OTA sold it, or the hotel itself booked it (rule 43). */
export const RESERVATION_SOURCES = ['partner', 'ota', 'house'] as const;
export type ReservationSource = (typeof RESERVATION_SOURCES)[number];

/** An index uses the same rule. */
export function sourceOf(row: Pick<ReservationRow, 'credential_id' | 'external_source'>): ReservationSource {
  if (row.credential_id !== null) {
    return 'partner';
  }
  return row.external_source === null ? 'house' : 'ota';
}
