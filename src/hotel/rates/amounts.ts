import { apiError } from '#platform/errors.ts';
import { amountFaults } from '#platform/lib/money.ts';
import { joinFaults } from '#platform/lib/fault-texts.ts';

/** Largest number of amounts that one error message names. */
const NAMED_AMOUNTS = 50;

/**
 * Refuses amounts that have decimals which the currency does not have.
 * @param amounts amounts of a body, each with its path. An amount may be null or missing
 * @throws ApiError 400 `invalid_request`
 */
export function checkAmounts(amounts: Iterable<readonly [path: string, amount: unknown]>, currency: string): void {
  const faults = amountFaults(amounts, currency);
  if (faults.length > 0) {
    throw apiError('invalid_request', joinFaults(faults, 'body', NAMED_AMOUNTS));
  }
}

/**
 * Refuses prices that have decimals which the currency does not have.
 * @param list name of the list of entries in the body. The price of an entry may be null or missing
 * @throws ApiError 400 `invalid_request`
 */
export function checkPrices(list: string, entries: { price?: unknown }[], currency: string): void {
  checkAmounts(
    entries.map(({ price }, index) => [`${list}.${index}.price`, price]),
    currency,
  );
}
