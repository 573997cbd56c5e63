import { oneOf, textsOf } from '../../ui/search.ts';

export type Kind = 'partners' | 'pms' | 'channels';

/** List, and the partner that is open, as the address has them. */
export interface PartnersSearch {
  /** Left out: partners. */
  kind?: Kind;
  /** Id of the partner in the drawer. */
  open?: string;
  /** The dialog for a new one is open. */
  new?: '1';
}

export function validatePartnersSearch(search: Record<string, unknown>): PartnersSearch {
  const { kind, open, new: isNew } = textsOf(search, ['kind', 'open', 'new']);
  return { kind: oneOf(['pms', 'channels'], kind), open, new: oneOf(['1'], isNew) };
}
