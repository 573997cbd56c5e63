import type { DateText } from '#platform/lib/dates.ts';
import { centsOf, formatCents } from '#platform/lib/money.ts';
import type { PlanInRange, RateRow } from './store.ts';

/** A plan with what differs from it on some nights. */
export interface PlanCalendar {
  id: string;
  basePrice: string;
  minNights: number;
  isActive: boolean;
  differences: Map<DateText, RateRow>;
}

/** A plan as it was looked up, its differences by their dates. */
export function calendarOf(plan: PlanInRange): PlanCalendar {
  return {
    id: plan.id,
    basePrice: plan.base_price,
    minNights: plan.min_nights,
    isActive: plan.is_active,
    differences: new Map(plan.differences?.map((rate) => [rate.date, rate])),
  };
}

/** What a stay costs, and under which plan; null plan: the room type has none. */
export interface Quote {
  planId: string | null;
  /** Decimal text. */
  total: string;
}

/** Whether the stay may be sold under the plan: open on all its nights, and long enough (decision 25). */
function isOpen(plan: PlanCalendar, nights: DateText[]): boolean {
  return plan.minNights <= nights.length && !nights.some((night) => plan.differences.get(night)?.is_sold_out);
}

/** The sum of the plan's nightly prices. */
export function quotePlan(plan: PlanCalendar, nights: DateText[]): Quote {
  const total = nights.reduce((sum, night) => sum + centsOf(plan.differences.get(night)?.price ?? plan.basePrice), 0);
  return { planId: plan.id, total: formatCents(total) };
}

/**
 * The cheapest of the active plans; of two at one price the first. Without an active plan the room type's own price counts,
 * and without one the stay is free (decision 25).
 * @param restrictions `apply`: a plan that is closed on a night or asks for a longer stay is left out, and where that leaves
 * none, null. `ignore`: an OTA has sold the stay already (decision 30)
 */
export function quoteCheapest(
  plans: PlanCalendar[],
  nights: DateText[],
  roomTypePrice: string | null,
  restrictions: 'apply' | 'ignore',
): Quote | null {
  const active = plans.filter((plan) => plan.isActive);
  if (active.length === 0) {
    return { planId: null, total: formatCents(centsOf(roomTypePrice ?? '0') * nights.length) };
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
 * The nights that are closed: there are active plans, and every one is sold out (decision 24).
 * @param soldOut of each active plan the nights on which it is sold out
 */
export function closedNights(soldOut: DateText[][]): Set<DateText> {
  const [first = [], ...others] = soldOut;
  const rest = others.map((nights) => new Set(nights));
  return new Set(first.filter((night) => rest.every((nights) => nights.has(night))));
}
