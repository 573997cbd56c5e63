import { textsOf } from '../../ui/search.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface OrdersSearch {
  open?: string;
}

export function validateOrdersSearch(search: Record<string, unknown>): OrdersSearch {
  return textsOf(search, ['open']);
}
