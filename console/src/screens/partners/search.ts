import { textsOf } from '../../ui/search.ts';

/** Filters and open drawer of the screen, as the address has them. */
export interface PartnersSearch {
  open?: string;
}

export function validatePartnersSearch(search: Record<string, unknown>): PartnersSearch {
  return textsOf(search, ['open']);
}
