import type { ReservationRow } from './store.ts';

/** Origins of a stay: a partner booked it, an OTA sold it, or the hotel itself booked it (decision 43). */
export const RESERVATION_SOURCES = ['partner', 'ota', 'house'] as const;
export type ReservationSource = (typeof RESERVATION_SOURCES)[number];

/** Returns the origin of a stay. An index uses the same rule. */
export function sourceOf(row: Pick<ReservationRow, 'credential_id' | 'external_source'>): ReservationSource {
  if (row.credential_id !== null) {
    return 'partner';
  }
  return row.external_source === null ? 'house' : 'ota';
}
