import type { ReservationRow } from './store.ts';

/** Origins of a stay: a partner booked it, an OTA sold it, or the hotel itself booked it (decision 43). */
export const RESERVATION_SOURCES = ['partner', 'ota', 'house'] as const;
export type ReservationSource = (typeof RESERVATION_SOURCES)[number];

/** Returns the origin of a stay. The indexes of migration 0029 use the same rule, so a change of the rule needs new indexes. */
export function sourceOf(row: Pick<ReservationRow, 'credential_id' | 'external_source'>): ReservationSource {
  if (row.credential_id !== null) {
    return 'partner';
  }
  return row.external_source === null ? 'house' : 'ota';
}
