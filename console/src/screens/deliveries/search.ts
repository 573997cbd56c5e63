import { dateOf, oneOf, textsOf } from '../../ui/search.ts';
import { type EventName, EVENTS, STATUS, type StatusName } from './words.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface DeliveriesSearch {
  status?: StatusName;
  event?: EventName;
  partner?: string;
  /** Days in the house's time zone, both included. */
  from?: string;
  to?: string;
  /** Id of the delivery in the drawer. */
  open?: string;
}

export const STATUSES = Object.keys(STATUS) as StatusName[];

export function validateDeliveriesSearch(search: Record<string, unknown>): DeliveriesSearch {
  const { status, event, from, to, ...others } = textsOf(search, ['status', 'event', 'partner', 'from', 'to', 'open']);
  return {
    ...others,
    status: oneOf(STATUSES, status),
    event: oneOf(EVENTS, event),
    from: dateOf(from),
    to: dateOf(to),
  };
}
