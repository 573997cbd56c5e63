import { anyText, dateOf, oneOf, searchOf, useAddress } from '../../ui/search.ts';

/** What the screen shows, as the address has it. */
export const validateOrdersSearch = searchOf({
  open: anyText,
  /** `list`: all orders as a table. `kitchen`: the board for the wall of a kitchen. Left out: the board of the open ones. */
  view: (text) => oneOf(['list', 'kitchen'], text),
  /** The counts of all dishes stand beside the board. */
  day: (text) => oneOf(['on'], text),
  /** Status whose column a phone shows. */
  column: anyText,
  /** What a guest or a partner has said. All orders are searched for it. */
  q: anyText,
  status: anyText,
  type: anyText,
  partner: anyText,
  /** First and last day, both included. */
  from: dateOf,
  to: dateOf,
});
export type OrdersSearch = ReturnType<typeof validateOrdersSearch>;

/** A filter or a tab is no place to come back to, but an order and a view are. */
export const useOrdersAddress = () => useAddress<OrdersSearch>('open', 'view');
