import { formatMoney } from '#platform/lib/money.ts';
import { type Quote, roundedQuote } from '../rates/rates.ts';

/**
 * Returns the price of a stay as columns of its row. If the caller gives the amount of the whole stay, the prices of the nights are
 * unknown, so `nightly_prices` is null.
 */
export function priceOf(quote: Quote, currency: string, amount?: string | number) {
  if (amount !== undefined) {
    return { total_amount: formatMoney(String(amount), currency), nightly_prices: null };
  }
  const { nights, total } = roundedQuote(quote, currency);
  return { total_amount: total, nightly_prices: nights.map(({ price }) => price) };
}
