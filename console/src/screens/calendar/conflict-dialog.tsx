import { Box, Button, Group, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/reads.ts';
import { formatDate, plural, useFormat } from '../../ui/format.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { useStore } from '../../ui/store.ts';
import { Table } from '../../ui/table.tsx';
import { type Change, type Conflict, conflict, keyOf, settle } from './nights.ts';
import type { Row } from './rows.tsx';

interface TableProps {
  rows: Row[];
  nights: Change[];
  sides: Record<string, 'before' | 'after'>;
}

/** The nights of a change, with two values side by side. */
export function NightTable({ rows, nights, sides }: TableProps) {
  const { money } = useFormat();
  const columns = Object.entries(sides).map(([label, side]) => ({
    label,
    isNumber: true,
    cell: (night: Change) => {
      const { price, is_sold_out: isClosed } = night[side];
      const cost = price === null ? `${money(rowOf(rows, night)?.plan?.base_price ?? '0')} base` : money(price);
      return `${cost}${isClosed ? ', closed' : ''}`;
    },
  }));
  return (
    <Box mah={320} style={{ overflowY: 'auto' }} tabIndex={0}>
      <Table
        label={Object.keys(sides).join(' and ')}
        keyOf={keyOf}
        rows={nights}
        step={200}
        columns={[
          { label: 'Night', cell: ({ date }) => formatDate(date, 'weekday') },
          { label: 'Plan', cell: (night) => rowOf(rows, night)?.fullName },
          ...columns,
        ]}
      />
    </Box>
  );
}

function rowOf(rows: Row[], { rate_plan_id: id }: Change): Row | undefined {
  return rows.find(({ plan }) => plan?.id === id);
}

/** Side by side: what the person wanted, and what others have written meanwhile. */
export function ConflictDialog({ rows }: { rows: Row[] }) {
  const now = useStore(conflict);
  return (
    <Modal
      opened={now !== null}
      size="lg"
      onClose={() => settle([])}
      title={now && `Changed meanwhile: ${plural(now.nights.length, 'night')}`}
      closeButtonProps={{ 'aria-label': 'Change nothing' }}
    >
      {now && <Sides rows={rows} {...now} />}
    </Modal>
  );
}

function Sides({ rows, label, nights, rest }: Conflict & { rows: Row[] }) {
  const [first] = nights;
  const path = { room_type_id: (first && rowOf(rows, first)?.type.id) ?? '', date: first?.date ?? '' };
  const { data } = useQuery(read('getNight', { path }, ['rates']));
  const theirs = data?.history.find(({ what }) => what === 'price' || what === 'stop_sell');
  return (
    <>
      <p style={{ marginTop: 0 }}>
        {whoWasFirst(theirs?.by)} Nothing of “{label}” is saved yet.
      </p>
      <NightTable rows={rows} nights={nights} sides={{ Yours: 'after', Now: 'before' }} />
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
