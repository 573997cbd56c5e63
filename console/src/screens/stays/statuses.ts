import type { Answer } from '../../api/client.ts';
import type { Entry } from '../../api/reads.ts';
import { formatDate, plural } from '../../ui/format.ts';
import type { Tone } from '../../ui/status.tsx';

export type Stay = Entry<'listStaffReservations'>;
export type StayWithHistory = Answer<'getStaffReservation'>;

export const STATUS: Record<Stay['status'], { label: string; tone: Tone }> = {
  pending: { label: 'Pending', tone: 'accent' },
  confirmed: { label: 'Confirmed', tone: 'quiet' },
  completed: { label: 'Left', tone: 'quiet' },
  no_show: { label: 'No-show', tone: 'warn' },
  cancelled: { label: 'Cancelled', tone: 'late' },
  expired: { label: 'Expired', tone: 'quiet' },
};
export const STATUSES = Object.keys(STATUS) as Stay['status'][];

/** State of a stay as the desk says it. */
export function stateOf({ status, arrived_at: arrivedAt }: Stay): { label: string; tone: Tone } {
  return status === 'confirmed' && arrivedAt !== null ? { label: 'Arrived', tone: 'good' } : STATUS[status];
}

/** Who booked the stay, in a word that is never empty. */
export function bookerOf({ source, credential_id: id, credential_label: label, external_source: ota }: Stay): string {
  return source === 'house' ? 'The house' : source === 'ota' ? (ota ?? 'An OTA') : label || `Partner ${id?.slice(-4)}`;
}

export function countNights({ check_in: from, check_out: to }: Pick<Stay, 'check_in' | 'check_out'>): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}

/** `3 Dec – 5 Dec`. */
export function formatDates(stay: Pick<Stay, 'check_in' | 'check_out'>): string {
  return `${formatDate(stay.check_in)} – ${formatDate(stay.check_out)}`;
}

/** `3 Dec – 5 Dec, 2 nights`. */
export function formatNights(stay: Pick<Stay, 'check_in' | 'check_out'>): string {
  return `${formatDates(stay)}, ${plural(countNights(stay), 'night')}`;
}

export const NEXT = { confirm: 'Confirm', arrive: 'Arrived', leave: 'Left' };
export type Next = keyof typeof NEXT;

/** The one thing that is to be done with a stay today, if there is one. */
export function nextOf({ status, arrived_at: arrivedAt, check_in, check_out }: Stay, today: string): Next | undefined {
  if (status === 'pending') return 'confirm';
  if (status !== 'confirmed' || check_in > today) return undefined;
  if (check_out <= today) return 'leave';
  return arrivedAt === null ? 'arrive' : undefined;
}
