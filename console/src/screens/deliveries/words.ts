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

const CAUSE: Record<string, { short: string; advice: string }> = {
  dns_failed: { short: 'host not found', advice: 'Check the host name of the webhook.' },
  connection_refused: { short: 'connection refused', advice: 'Check host name and port of the webhook.' },
  address_refused: { short: 'private address', advice: 'The host leads to a private address. Use a public one.' },
  tls_failed: {
    short: 'certificate not valid',
    advice: 'The certificate may be expired, be for another name, or lack a part of its chain.',
  },
  timeout: {
    short: 'no answer in 10 s',
    advice: 'The receiver should answer first, and process the event afterwards.',
  },
  connection_reset: {
    short: 'connection closed',
    advice: 'The receiver, or a proxy before it, closed the connection.',
  },
  redirect: { short: 'redirected', advice: 'Register the address that the redirect leads to.' },
  http_status: { short: 'refused', advice: 'The receiver answered, but not with a 2xx.' },
  network_error: { short: 'connection failed', advice: 'Check the network and the proxy before the receiver.' },
  aborted: {
    short: 'cut off by a stop',
    advice: 'The service stopped during the attempt. The receiver may have got the event.',
  },
  no_outcome: {
    short: 'outcome unknown',
    advice: 'The service stopped during the attempt. The receiver may have got the event.',
  },
  internal_error: { short: 'fault of the service', advice: 'Tell the operator of the service.' },
};

/** What came of an attempt, in a few words. */
export function outcomeOf({ http_status, error }: Attempt): string {
  if (error === null) return http_status === null ? 'under way' : `answered ${http_status}`;
  return http_status === null ? (CAUSE[error]?.short ?? error) : `answered ${http_status}`;
}

/** What to check after a failed attempt. */
export function adviceOf({ error }: Attempt): string | null {
  return error === null ? null : (CAUSE[error]?.advice ?? error);
}
