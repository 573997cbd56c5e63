import { Button, Group, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/reads.ts';
import { formatDate, plural, useFormat } from '../../ui/format.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { Table } from '../../ui/table.tsx';
import { type Change, keyOf, type RoomType } from './nights.ts';
import { settle, useWrites } from './writes.ts';

const MOST_SHOWN = 8;

interface TableProps {
  types: RoomType[];
  nights: Change[];
  /** The two columns, by their words. */
  sides: Record<string, 'expected' | 'after'>;
}

/** The first nights of a change, with two values side by side. */
export function NightTable({ types, nights, sides }: TableProps) {
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

type Conflict = NonNullable<ReturnType<typeof useWrites>['conflict']>;

/** Side by side: what the person wanted, and what others have written meanwhile. */
export function ConflictDialog({ types }: { types: RoomType[] }) {
  const { conflict } = useWrites();
  return (
    <Modal
      opened={conflict !== null}
      size="lg"
      onClose={() => settle([])}
      title={conflict && `Changed meanwhile: ${plural(conflict.nights.length, 'night')}`}
      closeButtonProps={{ 'aria-label': 'Change nothing' }}
    >
      {conflict && <Sides types={types} {...conflict} />}
    </Modal>
  );
}

function Sides({ types, label, nights, rest }: Conflict & { types: RoomType[] }) {
  const { rate_plan_id: first, date = '' } = nights[0] ?? {};
  const id = types.find(({ rate_plans: plans }) => plans.some((plan) => plan.id === first))?.id ?? '';
  const { data } = useQuery(read('getNight', { path: { room_type_id: id, date } }, ['rates']));
  const theirs = data?.history.find(({ what }) => what === 'price' || what === 'stop_sell');
  return (
    <>
      <p style={{ marginTop: 0 }}>
        {whoWasFirst(theirs?.by)} Nothing of “{label}” is saved yet.
      </p>
      <NightTable types={types} nights={nights} sides={{ Yours: 'after', Now: 'expected' }} />
      <Group mt="lg">
        <Button data-autofocus onClick={() => settle(rest)}>
          Keep theirs{rest.length > 0 && `, save the other ${rest.length}`}
        </Button>
        <Button variant="default" onClick={() => settle([...nights, ...rest])}>
          Keep mine
        </Button>
      </Group>
    </>
  );
}
