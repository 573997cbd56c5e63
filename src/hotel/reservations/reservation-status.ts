import { type ApiError, apiError } from '#platform/errors.ts';
import type { ReservationRow } from './store.ts';

/** Statuses of a reservation (PMS contract §3). */
export const RESERVATION_STATUSES = ['pending', 'confirmed', 'cancelled', 'no_show', 'completed', 'expired'] as const;
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

/** Statuses to which a reservation may change (rule 23). A partner may only cancel it (contract §3). */
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

/** Returns why the status may not change, or null if it may. */
export function statusRefusal(
  present: ReservationStatus,
  { status, expected_status: expected }: { status: ReservationStatus; expected_status?: ReservationStatus },
): ApiError | null {
  if (expected !== undefined && expected !== present) {
    return refused(`The reservation is ${present}, not ${expected}. Read the reservation again.`);
  }
  return FOLLOWING[present].includes(status)
    ? null
    : refused(`The reservation is ${present}, so it cannot become ${status}.`);
}

/** Makes the 409 of a change that the reservation does not allow now. */
export function refused(message: string): ApiError {
  return apiError('invalid_status_transition', message);
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
