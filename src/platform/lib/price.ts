import Type from 'typebox';
import { DOCUMENTED } from './documented.ts';
import { MONEY_PATTERN } from './money.ts';

/** The keyword of `Price`, checked by `compileSchema`. */
export const PRICE_KEYWORD = 'x-price';

/** An amount from 0 to 99,999,999.99 with at most two decimals, as a number or as a text (decision 29). */
export const Price = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  [PRICE_KEYWORD]: true,
  [DOCUMENTED]: { pattern: MONEY_PATTERN, minimum: 0, maximum: 99_999_999.99 },
});

/** Whether the value is an amount as `Price` describes it. A number is judged by its shortest decimal text. */
export function isPrice(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && /^\d{1,8}(\.\d{1,2})?$/.test(String(value));
}
