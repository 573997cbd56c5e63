import { call } from '../../api/client.ts';
import { addDays } from '../../ui/format.ts';
import { amountOf, type Change, datesOf, valueAt } from './nights.ts';
import { send } from './writes.ts';

export interface BulkForm {
  /** None: all plans. */
  plans: string[];
  /** First and last night. */
  from: string | undefined;
  to: string | undefined;
  /** Days of the week, 0 for Sunday. */
  weekdays: number[];
  /** Undefined: the prices stay. */
  price: 'amount' | 'percent' | 'base' | undefined;
  amount: string;
  /** Undefined: what is closed stays closed, and what is open stays open. */
  restriction: 'close' | 'open' | undefined;
}

/** Returns by a dry run what would change. @throws Refused, Unreachable, Error */
export async function previewOf(property: string, currency: string, form: BulkForm): Promise<Change[]> {
  const { plans, from = '', to = '', weekdays, restriction } = form;
  const price = priceRule(form, currency);
  const calendar = await call('getCalendar', { query: { property_id: property, from, to: addDays(to, 1) } });
  const nights = [...datesOf(calendar).entries()].filter(([, date]) => weekdays.includes(new Date(date).getUTCDay()));
  const all = calendar.room_types.flatMap((type) => type.rate_plans);
  const chosen = plans.length === 0 ? all : all.filter(({ id }) => plans.includes(id));
  const changes = chosen.flatMap((plan) =>
    nights.map(([index, date]) => {
      const expected = valueAt(plan, index);
      const isClosed = restriction === undefined ? expected.is_sold_out : restriction === 'close';
      const after = { price: price(expected.price, plan.prices[index] ?? ''), is_sold_out: isClosed };
      return { rate_plan_id: plan.id, date, expected, after };
    }),
  );
  return changes.length === 0 ? [] : await send(changes, true);
}

/** Gives the new price of a night, from its own price and from what it costs. */
type PriceRule = (own: string | null, cost: string) => string | null;

function priceRule({ price, amount }: BulkForm, currency: string): PriceRule {
  if (price === undefined) return (own) => own;
  if (price === 'base') return () => null;
  if (price === 'amount') {
    const fixed = amountOf(amount);
    if (fixed === null) throw new Error('Type a price such as 120 or 99.50.');
    return () => fixed;
  }
  const percent = Number.parseFloat(amount.replace(',', '.'));
  if (!(percent > -100)) throw new Error('Type a percentage such as 10 or -7.5.');
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits;
  return (_, cost) => Number(((Number(cost) * (100 + percent)) / 100).toFixed(digits)).toFixed(2);
}
