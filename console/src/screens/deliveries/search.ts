import { textsOf } from '../../ui/search.ts';

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

const DAY = /^\d{4}-\d\d-\d\d$/;

export function validateDeliveriesSearch(search: Record<string, unknown>): DeliveriesSearch {
  const { status, event, from, to, ...others } = textsOf(search, ['status', 'event', 'partner', 'from', 'to', 'open']);
  const isOneOf = <Value extends string>(values: readonly Value[], value: string | undefined): value is Value =>
    values.includes(value as Value);
  return {
    ...others,
    ...(isOneOf(STATUSES, status) ? { status } : {}),
    ...(isOneOf(EVENTS, event) ? { event } : {}),
    ...(from !== undefined && DAY.test(from) ? { from } : {}),
    ...(to !== undefined && DAY.test(to) ? { to } : {}),
  };
}
