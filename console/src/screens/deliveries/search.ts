import { dateOf, oneOf, textsOf } from '../../ui/search.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface DeliveriesSearch {
  status?: DeliveryStatus;
  event?: EventName;
  partner?: string;
  /** Days in the house's time zone, both included. */
  from?: string;
  to?: string;
  /** Id of the delivery in the drawer. */
  open?: string;
}

export const STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof STATUSES)[number];

export const EVENTS = [
  'order.status_changed',
  'reservation.created',
  'reservation.modified',
  'reservation.cancelled',
] as const;
export type EventName = (typeof EVENTS)[number];

const NAMES = ['status', 'event', 'partner', 'from', 'to', 'open'] as const;

export function validateDeliveriesSearch(search: Record<string, unknown>): DeliveriesSearch {
  const { status, event, from, to, ...others } = textsOf(search, NAMES);
  return {
    ...others,
    status: oneOf(STATUSES, status),
    event: oneOf(EVENTS, event),
    from: dateOf(from),
    to: dateOf(to),
  };
}
