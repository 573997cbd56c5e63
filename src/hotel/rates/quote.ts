import type { DateText } from '#platform/lib/dates.ts';
import { centsOf, formatCents, formatMoney } from '#platform/lib/money.ts';
import type { PlanInRange, RateRow } from './store.ts';

/**
 * Rate plan with the prices and restrictions of its nights. `differences` has an entry for each night that has its own price or
 * restriction. A night without an entry is open and costs `basePrice`.
 */
export interface PlanCalendar {
  id: string;
  name: string;
  basePrice: string;
  minNights: number;
  isActive: boolean;
  differences: Map<DateText, RateRow>;
}

/** Converts a rate plan as the database returns it to a `PlanCalendar`. */
export function calendarOf(plan: PlanInRange): PlanCalendar {
  return {
    id: plan.id,
    name: plan.name,
    basePrice: plan.base_price,
    minNights: plan.min_nights,
    isActive: plan.is_active,
    differences: new Map(plan.differences?.map((rate) => [rate.date, rate])),
  };
}

/** Price of one night of a stay, as decimal text with two decimals. */
export interface NightPrice {
  date: DateText;
  price: string;
}

/** Price of a stay, and the rate plan from which it comes. */
export interface Quote {
  /**
   * Id of the rate plan from which the price comes. Null if the room type has no active plan, so that the price of the room type applies.
   */
  planId: string | null;
  /** Name of the rate plan from which the price comes. Null if `planId` is null. */
  planName: string | null;
  /** Price of each night of the stay, sorted by date. */
  nights: NightPrice[];
  /** Price of the whole stay as decimal text with two decimals. */
  total: string;
}

/** Returns the price of a night: its own price, or the price of its plan if it has no own price. */
export function nightPrice(planPrice: string, ownPrice: string | null | undefined): string {
  return ownPrice ?? planPrice;
}

/** Returns true if the plan is open on all nights of the stay, and the stay has at least `minNights` nights (decision 25). */
export function isOpen(plan: PlanCalendar, nights: DateText[]): boolean {
  return plan.minNights <= nights.length && !nights.some((night) => plan.differences.get(night)?.is_sold_out);
}

/** Returns the price of a stay under the plan, which is the sum of its nightly prices. Does not check the restrictions of the plan. */
export function quotePlan(plan: PlanCalendar, nights: DateText[]): Quote {
  const priceAt = (date: DateText) => nightPrice(plan.basePrice, plan.differences.get(date)?.price);
  const prices = nights.map((date) => ({ date, price: priceAt(date) }));
  return { planId: plan.id, planName: plan.name, nights: prices, total: totalOf(prices) };
}

/**
 * Returns the quote with prices that the currency can have. A price may have more decimals than its currency if it was written before the
 * service refused such prices, or before the tenant changed its currency.
 */
export function roundedQuote(quote: Quote, currency: string): Quote {
  const nights = quote.nights.map(({ date, price }) => ({ date, price: formatMoney(price, currency) }));
  return { ...quote, nights, total: totalOf(nights) };
}

function totalOf(nights: NightPrice[]): string {
  return formatCents(nights.reduce((sum, { price }) => sum + centsOf(price), 0));
}

/**
 * Returns the price of a stay under the cheapest active plan. If several plans have this price, the first of them in `plans` applies. These
 * rules select the plans that are compared:
 * - If active plans allow the stay, only these plans are compared. A plan allows the stay if the plan is open on all nights, and if the
 *   stay has at least the plan's minimum number of nights.
 * - If there are active plans, but no active plan allows the stay, `restrictions` decides. With `apply`, the function returns null. With
 *   `ignore`, all active plans are compared. `ignore` is for a stay that an OTA has already sold (decision 30).
 * - If the room type has no active plan, the price of the room type itself applies. If that price is null, the stay costs 0.00 (decision
 *   25).
 */
export function quoteCheapest(
  plans: PlanCalendar[],
  nights: DateText[],
  roomTypePrice: string | null,
  restrictions: 'apply' | 'ignore',
): Quote | null {
  const active = plans.filter((plan) => plan.isActive);
  if (active.length === 0) {
    const prices = nights.map((date) => ({ date, price: formatMoney(roomTypePrice ?? '0') }));
    return { planId: null, planName: null, nights: prices, total: totalOf(prices) };
  }
  const open = active.filter((plan) => isOpen(plan, nights));
  const candidates = open.length > 0 || restrictions === 'apply' ? open : active;
  const quotes = candidates.map((plan) => quotePlan(plan, nights));
  return quotes.reduce<Quote | null>(
    (best, quote) => (best === null || centsOf(quote.total) < centsOf(best.total) ? quote : best),
    null,
  );
}

/**
 * Returns the nights on which all active plans are sold out (decision 24). The result is empty if there is no active plan.
 * @param soldOut the sold-out nights of each active plan
 */
export function closedNights(soldOut: DateText[][]): Set<DateText> {
  const [first = [], ...others] = soldOut;
  const rest = others.map((nights) => new Set(nights));
  return new Set(first.filter((night) => rest.every((nights) => nights.has(night))));
}
