import { anyText, dateOf, oneOf, searchOf } from '../../ui/search.ts';
import { STATUSES } from './statuses.ts';

export type DayView = 'arrivals' | 'departures' | 'house';

export const validateStaysSearch = searchOf({
  /** Left out: arrivals. */
  view: (text) => oneOf(['departures', 'house', 'all'], text),
  /** Day of the view. Left out: today at the property. */
  day: dateOf,
  property: anyText,
  /** What a guest has said. All stays are searched for it, whatever the view. */
  q: anyText,
  status: (text) => oneOf(STATUSES, text),
  partner: anyText,
  open: anyText,
  new: (text) => oneOf(['1'], text),
});
export type StaysSearch = ReturnType<typeof validateStaysSearch>;
