import { apiError } from '#platform/errors.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { joinFaults } from '#platform/lib/fault-texts.ts';
import { amountFaults, centsOf, formatCents, formatMoney } from '#platform/lib/money.ts';
import type { PlanInRange, RateRow } from './store.ts';

/** Rate plan with the nights that have their own price or restriction. Each other night is open and costs `base_price`. */
export type PlanCalendar = Omit<PlanInRange, 'differences'> & { differences: Map<DateText, RateRow> };

export function calendarOf({ differences, ...plan }: PlanInRange): PlanCalendar {
  return { ...plan, differences: new Map(differences?.map((rate) => [rate.date, rate])) };
}

interface NightPrice {
  date: DateText;
  price: string;
}

export interface Quote {
  /** Null if the room type has no active plan, so that the price of the room type applies. */
  plan: { id: string; name: string } | null;
  nights: NightPrice[];
  total: string;
}

/** Returns true if the plan allows the stay: it is open on all nights, and allows the number of nights (rule 25). */
export function isOpen(plan: PlanCalendar, nights: DateText[]): boolean {
  return plan.min_nights <= nights.length && !nights.some((night) => plan.differences.get(night)?.is_sold_out);
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
  const { id, name, differences } = plan;
  const prices = nights.map((date) => ({ date, price: nightPrice(plan, differences.get(date)) }));
  return { plan: { id, name }, nights: prices, total: totalOf(prices) };
}

/** A price may have more decimals than its currency if it was written before the tenant changed its currency. */
export function roundedQuote(quote: Quote, currency: string): Quote {
  const nights = quote.nights.map(({ date, price }) => ({ date, price: formatMoney(price, currency) }));
  return { ...quote, nights, total: totalOf(nights) };
}

function totalOf(nights: NightPrice[]): string {
  return formatCents(nights.reduce((sum, { price }) => sum + centsOf(price), 0));
}

/**
 * Returns the price of a stay under the cheapest active plan that allows it, the first of `plans` if several cost the same. If no active
 * plan allows the stay, returns null with `apply`. With `ignore`, all active plans are compared, because an OTA has already sold the stay
 * (rule 30). Without an active plan, the price of the room type applies, or 0.00 if it is null (rule 25).
 */
export function quoteCheapest(
  plans: PlanCalendar[],
  nights: DateText[],
  roomTypePrice: string | null,
  restrictions: 'apply' | 'ignore',
): Quote | null {
  const active = plans.filter((plan) => plan.is_active);
  if (active.length === 0) {
    const prices = nights.map((date) => ({ date, price: formatMoney(roomTypePrice ?? '0') }));
    return { plan: null, nights: prices, total: totalOf(prices) };
  }
  const open = active.filter((plan) => isOpen(plan, nights));
  const candidates = open.length > 0 || restrictions === 'apply' ? open : active;
  const quotes = candidates.map((plan) => quotePlan(plan, nights));
  return quotes.reduce<Quote | null>(
    (best, quote) => (best === null || centsOf(quote.total) < centsOf(best.total) ? quote : best),
    null,
  );
}

/** Returns the nights on which all active plans are sold out (rule 24). */
export function closedNights(soldOut: DateText[][]): Set<DateText> {
  const [first = [], ...others] = soldOut;
  const rest = others.map((nights) => new Set(nights));
  return new Set(first.filter((night) => rest.every((nights) => nights.has(night))));
}

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
