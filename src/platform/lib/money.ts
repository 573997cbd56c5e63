// Amounts are counted in whole cents, which are exact as numbers up to 2^53.

/** JSON Schema pattern of a money text: up to 8 integer digits, up to 2 decimals, no sign. */
export const MONEY_PATTERN = '^\\d{1,8}(\\.\\d{1,2})?$';

/** The largest amount that is stored or shown, in cents: 8 integer digits and 2 decimals. */
const MAX_CENTS = 9_999_999_999;

const FIVE = '5'.charCodeAt(0);

/** The whole cents of a decimal text without a sign; from the third decimal on it is rounded half up (decision 21). */
export function centsOf(amount: string): number {
  const point = amount.indexOf('.');
  if (point === -1) {
    return Number(amount) * 100;
  }
  const decimals = amount.slice(point + 1, point + 3).padEnd(2, '0');
  const roundedUp = amount.charCodeAt(point + 3) >= FIVE ? 1 : 0;
  return Number(amount.slice(0, point) + decimals) + roundedUp;
}

/** Whole cents as a decimal text with exactly two decimals (decision 9). */
export function formatCents(cents: number): string {
  const digits = cents < 100 ? String(cents).padStart(3, '0') : String(cents);
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** A decimal text with exactly two decimals, rounded half up. */
export function formatMoney(amount: string): string {
  return formatCents(centsOf(amount));
}

/** Whether an amount is beyond what an order or a price can hold. */
export function exceedsMaximum(cents: number): boolean {
  return cents > MAX_CENTS;
}
