import { anyText, dateOf, searchOf } from '../../ui/search.ts';

/** Filters of the screen: `actor` and `subject` are ids, the days are both included. */
export const validateAuditSearch = searchOf({
  action: anyText,
  actor: anyText,
  subject: anyText,
  from: dateOf,
  to: dateOf,
});
export type AuditSearch = ReturnType<typeof validateAuditSearch>;
