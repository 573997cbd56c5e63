import { trimmed } from '#platform/lib/unicode.ts';

export function normaliseEmail(email: string): string {
  return trimmed(email).toLowerCase();
}
