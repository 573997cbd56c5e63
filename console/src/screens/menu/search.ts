import { textsOf } from '../../ui/search.ts';

/** SKU of the dish in the drawer, and filters by category and by a part of a name or a SKU, as the address has them. */
export type MenuSearch = Partial<Record<'open' | 'category' | 'text', string>>;

export function validateMenuSearch(search: Record<string, unknown>): MenuSearch {
  return textsOf(search, ['open', 'category', 'text']);
}
