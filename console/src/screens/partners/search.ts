import { textsOf } from '../../ui/search.ts';

export const KINDS = ['partners', 'pms', 'channels'] as const;
export type Kind = (typeof KINDS)[number];

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
  return {
    ...(KINDS.includes(kind as Kind) && kind !== 'partners' ? { kind: kind as Kind } : {}),
    ...(open === undefined ? {} : { open }),
    ...(isNew === '1' ? { new: isNew } : {}),
  };
}
