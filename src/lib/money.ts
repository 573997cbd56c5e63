import { Big } from 'big.js';

/** The largest amount that is stored or shown: 8 integer digits and 2 decimals. */
const MAX_AMOUNT = new Big('99999999.99');

/** JSON Schema pattern of a money text: up to 8 integer digits, up to 2 decimals, no sign. */
export const MONEY_PATTERN = '^\\d{1,8}(\\.\\d{1,2})?$';

/** A decimal text with exactly two decimals (decision 9), rounded half up. */
export function formatMoney(amount: Big | string): string {
  return new Big(amount).toFixed(2, Big.roundHalfUp);
}

/** Whether an amount is beyond what an order or a price can hold. */
export function exceedsMaximum(amount: Big): boolean {
  return amount.gt(MAX_AMOUNT);
}
