import { anyText, dateOf, oneOf, searchOf } from '../../ui/search.ts';
import { EVENTS, STATUSES } from './status.tsx';

/** Filters and open drawer of the screen, as the address has them. The days are those of the house, both included. */
export const validateDeliveriesSearch = searchOf({
  status: (text) => oneOf(STATUSES, text),
  event: (text) => oneOf(EVENTS, text),
  partner: anyText,
  from: dateOf,
  to: dateOf,
  open: anyText,
});
export type DeliveriesSearch = ReturnType<typeof validateDeliveriesSearch>;
