import { Big } from 'big.js';
import type { DateText } from '../lib/dates.ts';
import { formatMoney } from '../lib/money.ts';
import type { PlanNight, RateRow } from './store.ts';

/** A plan with what differs from it on some nights. */
export interface PlanCalendar {
  id: string;
  basePrice: string;
  minNights: number;
  isActive: boolean;
  differences: Map<DateText, RateRow>;
}

/** The calendars in the rows of one look-up, in their order. */
export function calendarsOf(rows: PlanNight[]): PlanCalendar[] {
  const calendars = new Map<string, PlanCalendar>();
  for (const row of rows) {
    let calendar = calendars.get(row.id);
    if (calendar === undefined) {
      calendar = {
        id: row.id,
        basePrice: row.base_price,
        minNights: row.min_nights,
        isActive: row.is_active,
        differences: new Map(),
      };
      calendars.set(row.id, calendar);
    }
    if (row.date !== null) {
      calendar.differences.set(row.date, { date: row.date, price: row.price, is_sold_out: row.is_sold_out === true });
    }
  }
  return [...calendars.values()];
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
  const total = nights.reduce(
    (sum, night) => sum.plus(plan.differences.get(night)?.price ?? plan.basePrice),
    new Big(0),
  );
  return { planId: plan.id, total: formatMoney(total) };
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
    return { planId: null, total: formatMoney(new Big(roomTypePrice ?? 0).times(nights.length)) };
  }
  const open = active.filter((plan) => isOpen(plan, nights));
  const candidates = open.length > 0 || restrictions === 'apply' ? open : active;
  const quotes = candidates.map((plan) => quotePlan(plan, nights));
  return quotes.reduce<Quote | null>(
    (best, quote) => (best === null || new Big(quote.total).lt(best.total) ? quote : best),
    null,
  );
}

/** Whether a night is closed: there are active plans, and every one is sold out on it (decision 24). */
export function isClosed(plans: PlanCalendar[], night: DateText): boolean {
  const active = plans.filter((plan) => plan.isActive);
  return active.length > 0 && active.every((plan) => plan.differences.get(night)?.is_sold_out);
}
