import type { Answer } from '../../api/client.ts';
import type { RoomType } from '../../api/house.ts';
import { Facts } from '../../ui/detail.tsx';
import { addDays, formatDate, sumOf, useFormat } from '../../ui/format.ts';
import type { Stay } from './statuses.ts';

export type SoldType = Answer<'getCalendar'>['room_types'][number];
type Plan = SoldType['rate_plans'][number];

interface Wanted {
  checkIn: string;
  guests: number;
  /** Empty: the cheapest one that allows the stay. */
  planId: string;
  /** The stay that is changed. It makes room for itself. */
  own: Stay | undefined;
}

/** What a stay costs and what stands against it, by the rules of the API: before it is saved, a person knows what will be saved. */
export function quoteOf(type: RoomType, sold: SoldType, { checkIn, guests, planId, own }: Wanted) {
  const dates = sold.held.map((_, night) => addDays(checkIn, night));
  const isOwn = (date: string) => own?.room_type_id === type.id && own.check_in <= date && date < own.check_out;
  const against = (plan: Plan) => {
    const closed = dates.filter((date, night) => plan.closed[night] && !(isOwn(date) && plan.id === own?.rate_plan_id));
    return [
      closed.length > 0 && `${plan.name} is closed on ${listOf(closed)}.`,
      plan.min_nights > dates.length && `${plan.name} asks for ${plan.min_nights} nights at least.`,
    ].filter((problem) => problem !== false);
  };
  const plans = sold.rate_plans;
  const open = plans.filter((plan) => against(plan).length === 0);
  const named = plans.find(({ id }) => id === planId) ?? open.find(({ id }) => id === own?.rate_plan_id);
  const plan = named ?? cheapest(open.length > 0 ? open : plans);
  const full = dates.filter((date, night) => (sold.held[night] ?? 0) - Number(isOwn(date)) >= sold.physical_capacity);
  const nights = dates.map((date, night) => ({ date, price: plan?.prices[night] ?? type.base_price ?? '0' }));
  return {
    plan: plan?.name,
    nights,
    total: sumOf(nights.map(({ price }) => price)),
    isFull: full.length > 0,
    /** Why the stay may not be sold like this, as sentences. */
    problems: [
      full.length > 0 && `No ${type.name} is left on ${listOf(full)}.`,
      guests > type.max_occupancy && `${type.name} has room for ${type.max_occupancy}.`,
      ...(named ? against(named) : open.length > 0 ? [] : plans.flatMap(against)),
    ].filter((problem) => problem !== false),
  };
}

function cheapest(plans: Plan[]): Plan | undefined {
  return plans.toSorted((one, other) => Number(sumOf(one.prices)) - Number(sumOf(other.prices)))[0];
}

function listOf(dates: string[]): string {
  const shown = dates.slice(0, 3).map((date) => formatDate(date, 'weekday'));
  return dates.length > 3 ? `${shown.join(', ')} and ${dates.length - 3} more nights` : shown.join(', ');
}

interface PricesProps {
  /** Null: the prices of the nights are not known. */
  nights: { date: string; price: string }[] | null;
  total: string;
}

/** Nights with prices and total. Nights in a row that cost the same stand in one line. */
export function NightPrices({ nights, total }: PricesProps) {
  const { money } = useFormat();
  const runs: { date: string; price: string; count: number }[] = [];
  for (const night of nights ?? []) {
    const last = runs.at(-1);
    if (last?.price === night.price) last.count += 1;
    else runs.push({ ...night, count: 1 });
  }
  return (
    <Facts
      areAmounts
      facts={[
        ...runs.map(({ date, price, count }) =>
          count === 1
            ? ([formatDate(date, 'weekday'), money(price)] as const)
            : ([`${formatDate(date)} – ${formatDate(addDays(date, count))}`, `${count} × ${money(price)}`] as const),
        ),
        ['Total', <strong>{money(total)}</strong>],
      ]}
    />
  );
}
