import { formatDate, plural, useFormat } from '../../ui/format.ts';
import { Table } from '../../ui/table.tsx';
import { type Change, keyOf, type RoomType } from './nights.ts';

const MOST_SHOWN = 8;

interface Props {
  types: RoomType[];
  nights: Change[];
  /** The two columns, by their words. */
  sides: Record<string, 'expected' | 'after'>;
}

/** The first nights of a change, with two values side by side. */
export function NightTable({ types, nights, sides }: Props) {
  const { money } = useFormat();
  const plans = new Map(types.flatMap((type) => type.rate_plans.map((plan) => [plan.id, { type, plan }])));
  const columns = Object.entries(sides).map(([label, side]) => ({
    label,
    isNumber: true,
    cell: ({ rate_plan_id: id, [side]: { price, is_sold_out: isClosed } }: Change) => {
      const cost = price === null ? `${money(plans.get(id)?.plan.base_price ?? '0')} base` : money(price);
      return `${cost}${isClosed ? ', closed' : ''}`;
    },
  }));
  const nameOf = ({ rate_plan_id: id }: Change) => `${plans.get(id)?.type.name}, ${plans.get(id)?.plan.name}`;
  return (
    <>
      <Table
        label={Object.keys(sides).join(' and ')}
        keyOf={keyOf}
        rows={nights.slice(0, MOST_SHOWN)}
        columns={[
          { label: 'Night', cell: ({ date }) => formatDate(date, 'weekday') },
          { label: 'Plan', cell: nameOf },
          ...columns,
        ]}
      />
      {nights.length > MOST_SHOWN && <p>And {plural(nights.length - MOST_SHOWN, 'more night')}.</p>}
    </>
  );
}
