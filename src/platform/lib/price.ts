import Type from 'typebox';
import { DOCUMENTED } from './documented.ts';
import { MONEY_PATTERN } from './money.ts';

export const PRICE_KEYWORD = 'x-price';

/** Schema of an amount from 0 to 99,999,999.99 with at most two decimals, as a number or as a text (rule 29). */
export const Price = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  [PRICE_KEYWORD]: true,
  [DOCUMENTED]: { pattern: MONEY_PATTERN, minimum: 0, maximum: 99_999_999.99 },
});

/** Returns true if the value is an amount that `Price` allows. A number is first converted to text, for example 1.50 to `1.5`. */
export function isPrice(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && /^\d{1,8}(\.\d{1,2})?$/.test(String(value));
}

export const SOLD_AMOUNT_KEYWORD = 'x-sold-amount';

/** Schema of an amount below 100,000,000 that another system has sold, with any number of decimals. It may be null or an empty text. */
export const SoldAmount = Type.Unsafe<string | number | null>({
  type: ['string', 'number', 'null'],
  [SOLD_AMOUNT_KEYWORD]: true,
  [DOCUMENTED]: { pattern: String.raw`^(\d{1,8}(\.\d+)?)?$`, minimum: 0, exclusiveMaximum: 100_000_000 },
});

export function isSoldAmount(value: unknown): boolean {
  return (
    value === null ||
    value === '' ||
    ((typeof value === 'number' || typeof value === 'string') && /^\d{1,8}(\.\d+)?$/.test(decimalText(value)))
  );
}

const SMALLEST_PLAIN = 0.000001;

/** Converts a number to a decimal text without an exponent. A number that is so small that it would have an exponent becomes 0. */
export function decimalText(amount: string | number): string {
  return typeof amount === 'number' && amount > 0 && amount < SMALLEST_PLAIN ? '0' : String(amount);
}
