import type { Tone } from '../../ui/status.tsx';
import type { DeliveryStatus, EventName } from './search.ts';

export const STATUS: Record<DeliveryStatus, { label: string; tone: Tone }> = {
  pending: { label: 'Waiting', tone: 'warn' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'late' },
  stopped: { label: 'Stopped', tone: 'quiet' },
};

export const EVENT: Record<EventName, string> = {
  'order.status_changed': 'Order status',
  'reservation.created': 'Stay booked',
  'reservation.modified': 'Stay changed',
  'reservation.cancelled': 'Stay cancelled',
};

/** Number of attempts after which a delivery has failed. */
export const MAX_ATTEMPTS = 5;

interface Attempt {
  http_status: number | null;
  error: string | null;
}

/** What came of an attempt, in a few words. */
export function outcomeOf({ http_status, error }: Attempt): string {
  if (http_status !== null) return `answered ${http_status}`;
  return error === null ? 'under way' : error.replaceAll('_', ' ');
}

/** Where the guide for partners says what to check for each cause. */
export const CAUSES = '/docs/guides/webhooks/#if-no-delivery-arrives';
