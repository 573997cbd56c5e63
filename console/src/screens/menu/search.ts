import { oneOf, textsOf } from '../../ui/search.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface MenuSearch {
  /** Sku of the dish in the drawer. */
  open?: string;
  category?: string;
  /** Part of a name or a sku. */
  text?: string;
  /** Left out: dishes on the menu and off it. */
  show?: 'on' | 'off';
}

export function validateMenuSearch(search: Record<string, unknown>): MenuSearch {
  const { show, ...texts } = textsOf(search, ['open', 'category', 'text', 'show']);
  return { ...texts, show: oneOf(['on', 'off'], show) };
}
