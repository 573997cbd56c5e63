import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { dateOf, textsOf } from '../../ui/search.ts';

const NAMES = [
  // Id of the order in the drawer.
  'open',
  // `list`: all orders as a table. `kitchen`: the board for the wall of a kitchen. Missing: the board of the open ones.
  'view',
  // `on`: the counts of all dishes stand beside the board.
  'day',
  // Status whose column a phone shows.
  'column',
  // What a guest or a partner has said. All orders are searched for it.
  'q',
  'status',
  'type',
  'partner',
  // First and last day, as `YYYY-MM-DD`.
  'from',
  'to',
] as const;

/** Filters and open drawer of the screen, as the address has them. */
export type OrdersSearch = Partial<Record<(typeof NAMES)[number], string>>;

export function validateOrdersSearch(search: Record<string, unknown>): OrdersSearch {
  const { from, to, ...texts } = textsOf(search, NAMES);
  return { ...texts, from: dateOf(from), to: dateOf(to) };
}

const route = getRouteApi('/shell/orders');
export type Change = (patch: OrdersSearch) => void;

/** The state of the screen, and a function that changes it. */
export function useOrdersSearch(): { search: OrdersSearch; change: Change } {
  return { search: route.useSearch(), change: useChange() };
}

/** Only the function that changes the state. It stays the same, so that cards do not render again. */
export function useChange(): Change {
  const navigate = route.useNavigate();
  return useCallback(
    (patch) => {
      // A filter or a tab is no place to come back to, but an order and a view are.
      const isPlace = 'open' in patch || 'view' in patch;
      void navigate({ search: (previous: OrdersSearch) => ({ ...previous, ...patch }), replace: !isPlace });
    },
    [navigate],
  );
}
