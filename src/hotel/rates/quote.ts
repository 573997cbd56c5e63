import { apiError } from '#platform/errors.ts';
import { MAX_FAULTS } from '#platform/lib/bounds.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { joinFaults } from '#platform/lib/fault-texts.ts';
import { amountFaults, centsOf, formatCents, formatMoney } from '#platform/lib/money.ts';
import type { PlanCalendar } from './store.ts';

interface NightPrice {
  date: DateText;
  price: string;
}

export interface Quote {
  /** Null if the room type has no active plan, so that the price of the room type applies. */
  rate_plan: { id: string; name: string } | null;
  nights: NightPrice[];
  total_amount: string;
}

function quoteOf(rate_plan: Quote['rate_plan'], nights: NightPrice[]): Quote {
  return { rate_plan, nights, total_amount: formatCents(nights.reduce((sum, { price }) => sum + centsOf(price), 0)) };
}

/** Returns the price of a night under a plan: its own price, or that of the plan if it has none. */
export function nightPrice(
  { base_price }: { base_price: string },
  night: { price: string | null } | undefined,
): string {
  return night?.price ?? base_price;
}

/** Does not check the restrictions of the plan. */
export function quotePlan(plan: PlanCalendar, nights: DateText[]): Quote {
  const { id, name } = plan;
  const prices = nights.map((date) => ({ date, price: nightPrice(plan, plan.nights[date]) }));
  return quoteOf({ id, name }, prices);
}

/** A price may have more decimals than its currency if it was written before the tenant changed its currency. */
export function roundedQuote({ rate_plan, nights }: Quote, currency: string): Quote {
  const rounded = nights.map(({ date, price }) => ({ date, price: formatMoney(price, currency) }));
  return quoteOf(rate_plan, rounded);
}

/**
 * Returns the price of a stay under the cheapest plan that is open on all nights and allows their number (rule 25), the first of `plans` if
 * several cost the same. If no plan allows the stay, returns null, or with `overbook` the price under the cheapest of all, because an OTA
 * has already sold the stay (rule 30). Without a plan, the price of the room type applies, or 0.00 if it is null (rule 25).
 */
export function quoteCheapest(
  plans: PlanCalendar[],
  nights: DateText[],
  roomTypePrice: string | null,
  overbook: boolean,
): Quote | null {
  if (plans.length === 0) {
    const prices = nights.map((date) => ({ date, price: formatMoney(roomTypePrice ?? '0') }));
    return quoteOf(null, prices);
  }
  const open = plans.filter(
    (plan) => plan.min_nights <= nights.length && !nights.some((night) => plan.nights[night]?.is_sold_out),
  );
  const quotes = (open.length === 0 && overbook ? plans : open).map((plan) => quotePlan(plan, nights));
  return quotes.reduce<Quote | null>(
    (best, quote) => (best === null || centsOf(quote.total_amount) < centsOf(best.total_amount) ? quote : best),
    null,
  );
}

/** Returns the nights on which all active plans are sold out (rule 24). */
export function closedNights(soldOut: DateText[][]): Set<DateText> {
  const [first = new Set<DateText>(), ...others] = soldOut.map((nights) => new Set(nights));
  return others.reduce((closed, nights) => closed.intersection(nights), first);
}

/**
 * Refuses amounts that have decimals which the currency does not have.
 * @throws ApiError 400 `invalid_request`
 */
export function checkAmounts(amounts: Iterable<readonly [path: string, amount: unknown]>, currency: string): void {
  const faults = amountFaults(amounts, currency);
  if (faults.length > 0) {
    throw apiError('invalid_request', joinFaults(faults, 'body', MAX_FAULTS));
  }
}

export function checkPrices(list: string, entries: { price?: unknown }[], currency: string): void {
  checkAmounts(
    entries.map(({ price }, index) => [`${list}.${index}.price`, price]),
    currency,
  );
}
