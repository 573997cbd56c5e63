import { trimmed } from '#platform/lib/unicode.ts';

/**
 * Returns the e-mail address in lower case and without spaces and invisible characters around it, because letter case makes no difference in
 * e-mail addresses.
 */
export function normaliseEmail(email: string): string {
  return trimmed(email).toLowerCase();
}
