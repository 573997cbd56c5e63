import { dateOf, textsOf } from '../../ui/search.ts';

/** Filters of the screen, as the address has them. `actor` and `subject` are ids. */
export interface AuditSearch {
  action?: string;
  actor?: string;
  subject?: string;
  /** Days in the house's time zone, both included. */
  from?: string;
  to?: string;
}

export function validateAuditSearch(search: Record<string, unknown>): AuditSearch {
  const { from, to, ...texts } = textsOf(search, ['action', 'actor', 'subject', 'from', 'to']);
  return { ...texts, from: dateOf(from), to: dateOf(to) };
}
