import { dateOf, oneOf, textsOf } from '../../ui/search.ts';

export type DayView = 'arrivals' | 'departures' | 'house';
const SOURCES = ['partner', 'ota', 'house'] as const;
export const STATUSES = ['pending', 'confirmed', 'completed', 'no_show', 'cancelled', 'expired'] as const;

/** View, filters and what is open, as the address has them. */
export interface StaysSearch {
  /** Left out: arrivals. */
  view?: Exclude<DayView, 'arrivals'> | 'all';
  /** Day of the view. Left out: today at the property. */
  day?: string;
  property?: string;
  /** What a guest has said. All stays are searched for it, whatever the view. */
  q?: string;
  source?: (typeof SOURCES)[number];
  status?: (typeof STATUSES)[number];
  partner?: string;
  type?: string;
  /** Id of the stay in the drawer. */
  open?: string;
  /** The dialog for a new stay is open. */
  new?: '1';
}

const NAMES = ['view', 'day', 'property', 'q', 'source', 'status', 'partner', 'type', 'open', 'new'] as const;

export function validateStaysSearch(search: Record<string, unknown>): StaysSearch {
  const texts = textsOf(search, NAMES);
  return {
    ...texts,
    view: oneOf(['departures', 'house', 'all'], texts.view),
    day: dateOf(texts.day),
    source: oneOf(SOURCES, texts.source),
    status: oneOf(STATUSES, texts.status),
    new: oneOf(['1'], texts.new),
  };
}
