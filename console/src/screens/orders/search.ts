import { dateOf, textsOf } from '../../ui/search.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface OrdersSearch {
  /** Id of the order in the drawer. */
  open?: string;
  /** `list`: all orders as a table. Missing: the board of the open ones. */
  view?: string;
  /** `on`: the board for the wall of a kitchen. */
  kitchen?: string;
  /** `on`: the counts of all dishes stand beside the board. */
  day?: string;
  /** Status whose column a phone shows. */
  column?: string;
  status?: string;
  type?: string;
  partner?: string;
  /** First and last day, as `YYYY-MM-DD`. */
  from?: string;
  to?: string;
  external?: string;
  name?: string;
  phone?: string;
}

const NAMES = [
  'open',
  'view',
  'kitchen',
  'day',
  'column',
  'status',
  'type',
  'partner',
  'from',
  'to',
  'external',
  'name',
  'phone',
] as const;

export function validateOrdersSearch(search: Record<string, unknown>): OrdersSearch {
  const { from, to, ...texts } = textsOf(search, NAMES);
  return { ...texts, from: dateOf(from), to: dateOf(to) };
}
