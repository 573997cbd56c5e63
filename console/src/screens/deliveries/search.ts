import { textsOf } from '../../ui/search.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface DeliveriesSearch {
  open?: string;
}

export function validateDeliveriesSearch(search: Record<string, unknown>): DeliveriesSearch {
  return textsOf(search, ['open']);
}
