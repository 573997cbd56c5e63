import { apiError } from '#platform/errors.ts';
import { amountFaults } from '#platform/lib/money.ts';
import { joinFaults } from '#platform/lib/fault-texts.ts';

const NAMED_AMOUNTS = 50;

/**
 * Refuses amounts that have decimals which the currency does not have.
 * @throws ApiError 400 `invalid_request`
 */
export function checkAmounts(amounts: Iterable<readonly [path: string, amount: unknown]>, currency: string): void {
  const faults = amountFaults(amounts, currency);
  if (faults.length > 0) {
    throw apiError('invalid_request', joinFaults(faults, 'body', NAMED_AMOUNTS));
  }
}

export function checkPrices(list: string, entries: { price?: unknown }[], currency: string): void {
  checkAmounts(
    entries.map(({ price }, index) => [`${list}.${index}.price`, price]),
    currency,
  );
}
