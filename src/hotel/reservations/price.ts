import { formatMoney } from '#platform/lib/money.ts';
import type { Quote } from '../rates/rates.ts';

/**
 * Returns the price of a stay as columns of its row. If the caller gives the amount of the whole stay, the prices of the nights are
 * unknown, so `nightly_prices` is null.
 */
export function priceOf(quote: Quote, amount?: string | number) {
  return amount === undefined
    ? { total_amount: quote.total, nightly_prices: quote.nights.map(({ price }) => price) }
    : { total_amount: formatMoney(String(amount)), nightly_prices: null };
}
