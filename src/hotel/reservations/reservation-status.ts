/** PMS contract §3. */
export const RESERVATION_STATUSES = ['pending', 'confirmed', 'cancelled', 'no_show', 'completed', 'expired'] as const;
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

/** Decision 23. */
const FOLLOWING: Record<ReservationStatus, readonly ReservationStatus[]> = {
  pending: ['confirmed', 'expired', 'cancelled'],
  confirmed: ['completed', 'no_show', 'cancelled'],
  no_show: ['cancelled'],
  expired: ['cancelled'],
  completed: [],
  cancelled: [],
};

/** Statuses in which a reservation holds its nights (decision 23). */
export const HOLDING_STATUSES: readonly ReservationStatus[] = ['pending', 'confirmed', 'completed', 'no_show'];

/** Whether staff may move a reservation from one status to the other. */
export function mayFollow(from: ReservationStatus, to: ReservationStatus): boolean {
  return FOLLOWING[from].includes(to);
}

/** Partners may cancel whatever is not at its end already (contract §3). */
export function mayCancel(from: ReservationStatus): boolean {
  return from !== 'cancelled' && from !== 'completed';
}
