import type { Tone } from '../../ui/status.tsx';

export const STATUS = {
  pending: { label: 'Waiting', tone: 'warn' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'late' },
  stopped: { label: 'Stopped', tone: 'quiet' },
} as const satisfies Record<string, { label: string; tone: Tone }>;
export const STATUSES = Object.keys(STATUS) as (keyof typeof STATUS)[];

const EVENT = {
  'order.status_changed': 'Order status',
  'reservation.created': 'Stay booked',
  'reservation.modified': 'Stay changed',
  'reservation.cancelled': 'Stay cancelled',
};
type EventName = keyof typeof EVENT;
export const EVENTS = Object.keys(EVENT) as EventName[];

/** A later version of the service may send events that this one does not know. */
export function eventInWords(event: string): string {
  return EVENT[event as EventName] ?? event;
}

/** Number of attempts after which a delivery has failed. */
export const MAX_ATTEMPTS = 5;

/** What came of an attempt, in a few words. */
export function outcomeOf({ http_status, error }: { http_status: number | null; error: string | null }): string {
  if (http_status !== null) return `answered ${http_status}`;
  return error === null ? 'under way' : error.replaceAll('_', ' ').replace(/dns|tls/, (word) => word.toUpperCase());
}
