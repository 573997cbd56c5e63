import { matching } from './patterns.ts';

// The service calculates with whole cents, because JavaScript numbers are exact for integers up to 2^53.

/** JSON Schema pattern of a money text: 1 to 8 integer digits, at most 2 decimals, and no sign. */
export const MONEY_PATTERN = '^\\d{1,8}(\\.\\d{1,2})?$';

/** Words for the pattern of a decimal text. */
export const DECIMAL_IN_WORDS = 'must be a decimal text such as "12.50", with at most two decimals';

/** Schema keywords of a money text. */
export const MONEY = matching(MONEY_PATTERN, DECIMAL_IN_WORDS);

/** Largest amount that the service stores or shows, in cents. It has 8 integer digits and 2 decimals. */
const MAX_CENTS = 9_999_999_999;

const FIVE = '5'.charCodeAt(0);

/** Converts a decimal text without a sign to whole cents. Rounds half up to two decimals (decision 21). */
export function centsOf(amount: string): number {
  const point = amount.indexOf('.');
  if (point === -1) {
    return Number(amount) * 100;
  }
  const decimals = amount.slice(point + 1, point + 3).padEnd(2, '0');
  const roundedUp = amount.charCodeAt(point + 3) >= FIVE ? 1 : 0;
  return Number(amount.slice(0, point) + decimals) + roundedUp;
}

/** Formats whole cents as a decimal text with exactly two decimals (decision 9). */
export function formatCents(cents: number): string {
  const digits = cents < 100 ? String(cents).padStart(3, '0') : String(cents);
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Formats a decimal text (any number of decimals) with exactly two decimals. Rounds half up. */
export function formatMoney(amount: string): string {
  return formatCents(centsOf(amount));
}

/** Returns true if the amount is too large for an order or a price. */
export function exceedsMaximum(cents: number): boolean {
  return cents > MAX_CENTS;
}
