import type { Answer } from '../../api/client.ts';
import { addDays } from '../../ui/format.ts';

export type CalendarData = Answer<'getCalendar'>;
export type RoomType = CalendarData['room_types'][number];
export type Plan = RoomType['rate_plans'][number];

/** A line of the grid: the rooms of a type, or the prices of one of its plans. */
export interface Row {
  type: RoomType;
  plan: Plan | null;
}

/** What a plan has on a night. Price null: the plan's base price. */
export interface NightValue {
  price: string | null;
  is_sold_out: boolean;
}

/** A night of a plan with the values that the person saw, and those that it is to get. */
export interface Change {
  rate_plan_id: string;
  date: string;
  expected: NightValue;
  after: NightValue;
}
export type SeenNight = Omit<Change, 'after'>;

/** A cell of the grid. Column -1 is the name of the row. */
export interface Place {
  row: number;
  column: number;
}

/** A rectangle of the grid. `focus` is the corner that moves. */
export interface Selection {
  anchor: Place;
  focus: Place;
}

export function rowsOf({ room_types: types }: CalendarData): Row[] {
  return types.flatMap((type) => [{ type, plan: null }, ...type.rate_plans.map((plan) => ({ type, plan }))]);
}

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

export function areaOf({ anchor, focus }: Selection) {
  const [top = 0, bottom = 0] = [anchor.row, focus.row].sort((a, b) => a - b);
  const [left = 0, right = 0] = [anchor.column, focus.column].sort((a, b) => a - b);
  return { top, bottom, left, right };
}

/** Returns the nights of the plans in the selection. Rows of room types have no price, so they are left out. */
export function nightsIn(rows: Row[], dates: string[], selection: Selection): SeenNight[] {
  const { top, bottom, left, right } = areaOf(selection);
  const plans = left < 0 ? [] : rows.slice(top, bottom + 1).flatMap(({ plan }) => plan ?? []);
  return plans.flatMap((plan) =>
    dates
      .slice(left, right + 1)
      .map((date, index) => ({ rate_plan_id: plan.id, date, expected: valueAt(plan, left + index) })),
  );
}

/** Returns the nights to close or open. The row of a room type stands for all its plans, if it alone is selected. */
export function closableIn(rows: Row[], dates: string[], { anchor, focus }: Selection): SeenNight[] {
  const { type, plan } = rows[focus.row] ?? {};
  const below = plan === null && anchor.row === focus.row ? type?.rate_plans.length : 0;
  return nightsIn(rows, dates, { anchor, focus: { ...focus, row: focus.row + (below ?? 0) } });
}

/** Returns the calendar with other values on some nights, by `keyOf`. */
export function withValues(calendar: CalendarData, values: ReadonlyMap<string, NightValue>): CalendarData {
  if (values.size === 0) return calendar;
  const dates = datesOf(calendar);
  const changed = (plan: Plan): Plan => {
    const all = dates.map((date, index) => values.get(`${plan.id} ${date}`) ?? valueAt(plan, index));
    return {
      ...plan,
      prices: all.map(({ price }) => price ?? plan.base_price),
      is_own: all.map(({ price }) => price !== null),
      closed: all.map(({ is_sold_out: isClosed }) => isClosed),
    };
  };
  const room_types = calendar.room_types.map((type) => ({ ...type, rate_plans: type.rate_plans.map(changed) }));
  return { ...calendar, room_types };
}

/** Returns what a person has typed as an amount of the API (`1,234.5` → `1234.50`), or null if it is none. */
export function amountOf(text: string): string | null {
  const plain = text
    .trim()
    .replace(/,(?=\d{3}(?:\D|$))/g, '')
    .replace(',', '.');
  return /^\d{1,8}(?:\.\d{1,2})?$/.test(plain) ? Number(plain).toFixed(2) : null;
}

const short = new Map<string, string>();

/** Price as short as a cell needs it: `96.00` → `96`, `1234.50` → `1,234.50`. */
export function shortPrice(price: string): string {
  const text =
    short.get(price) ??
    Number(price).toLocaleString(undefined, { minimumFractionDigits: price.endsWith('.00') ? 0 : 2 });
  short.set(price, text);
  return text;
}
