import { textsOf } from '../../ui/search.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface MenuSearch {
  /** Sku of the dish in the drawer. */
  open?: string;
  category?: string;
  /** Part of a name or a sku. */
  text?: string;
}

export function validateMenuSearch(search: Record<string, unknown>): MenuSearch {
  return textsOf(search, ['open', 'category', 'text']);
}
