import Type from 'typebox';
import { DOCUMENTED } from './documented.ts';
import { MONEY_PATTERN } from './money.ts';

/** Schema keyword that marks a `Price`. A validator from `compileSchema` checks such a value with `isPrice`. */
export const PRICE_KEYWORD = 'x-price';

/** Schema of an amount from 0 to 99,999,999.99 with at most two decimals, as a number or as a text (decision 29). */
export const Price = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  [PRICE_KEYWORD]: true,
  [DOCUMENTED]: { pattern: MONEY_PATTERN, minimum: 0, maximum: 99_999_999.99 },
});

/** Returns true if the value is an amount that `Price` allows. A number is first converted to text, for example 1.50 to `1.5`. */
export function isPrice(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && /^\d{1,8}(\.\d{1,2})?$/.test(String(value));
}
