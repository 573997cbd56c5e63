import { dateOf, oneOf, textsOf } from '../../ui/search.ts';
import { EVENTS, STATUSES } from './words.ts';

/** Filters and open drawer of the screen, as the address has them. The days are those of the house, both included. */
export type DeliveriesSearch = Partial<ReturnType<typeof filtersOf>>;

export const validateDeliveriesSearch: (search: Record<string, unknown>) => DeliveriesSearch = filtersOf;

function filtersOf(search: Record<string, unknown>) {
  const { status, event, from, to, ...ids } = textsOf(search, ['status', 'event', 'partner', 'from', 'to', 'open']);
  return { ...ids, status: oneOf(STATUSES, status), event: oneOf(EVENTS, event), from: dateOf(from), to: dateOf(to) };
}
