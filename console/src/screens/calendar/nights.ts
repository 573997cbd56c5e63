import type { Answer } from '../../api/client.ts';
import { addDays } from '../../ui/format.ts';

export type CalendarData = Answer<'getCalendar'>;
export type RoomType = CalendarData['room_types'][number];
export type Plan = RoomType['rate_plans'][number];

/** A night of a plan with the values that the person saw, and those that it is to get. A price that is null is the plan's base price. */
export type Change = Answer<'changeRates'>['changed'][number];
/** What a plan has on a night. */
export type NightValue = Change['after'];

export function datesOf({ from, to }: CalendarData): string[] {
  return Array.from({ length: (Date.parse(to) - Date.parse(from)) / 86_400_000 }, (_, index) => addDays(from, index));
}

export function valueAt(plan: Plan, index: number): NightValue {
  return { price: plan.is_own[index] ? (plan.prices[index] ?? null) : null, is_sold_out: plan.closed[index] === true };
}

export function isEqual(a: NightValue, b: NightValue): boolean {
  return a.price === b.price && a.is_sold_out === b.is_sold_out;
}

export function keyOf({ rate_plan_id: plan, date }: Pick<Change, 'rate_plan_id' | 'date'>): string {
  return `${plan} ${date}`;
}

/** Returns what a person has typed as an amount of the API (`1,234.5` → `1234.50`), or null if it is none. */
export function amountOf(text: string): string | null {
  const plain = text
    .trim()
    .replace(/,(?=\d{3}(?:\D|$))/g, '')
    .replace(',', '.');
  return /^\d{1,8}(?:\.\d{1,2})?$/.test(plain) ? Number(plain).toFixed(2) : null;
}

const whole = new Intl.NumberFormat();
const withCents = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2 });

/** Price as short as a cell needs it: `96.00` → `96`, `1234.50` → `1,234.50`. */
export function shortPrice(price: string): string {
  return (price.endsWith('.00') ? whole : withCents).format(Number(price));
}
