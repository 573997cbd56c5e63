import { textsOf } from '../../ui/search.ts';

/** SKU of the dish in the drawer, and filters by category, by a part of a name or a SKU, or `off` the menu, as the address has them. */
export type MenuSearch = Partial<Record<'open' | 'category' | 'text' | 'shown', string>>;

export function validateMenuSearch(search: Record<string, unknown>): MenuSearch {
  return textsOf(search, ['open', 'category', 'text', 'shown']);
}
