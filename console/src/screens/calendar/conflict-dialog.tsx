import { Button, Group, Modal } from '@mantine/core';
import { formatDate, plural, useFormat } from '../../ui/format.ts';
import { Table } from '../../ui/table.tsx';
import type { NightValue } from './nights.ts';
import { placeOf, settle, useWrites } from './writes.ts';

const MOST_SHOWN = 8;

interface TableProps {
  /** What the two values of each night are, for example `Before` and `After`. */
  labels: [string, string];
  nights: { rate_plan_id: string; date: string; values: [NightValue, NightValue] }[];
}

/** The first nights of a change, with two values side by side. */
export function NightTable({ labels, nights }: TableProps) {
  const { money } = useFormat();
  const columnOf = (index: 0 | 1) => ({
    label: labels[index],
    isNumber: true,
    cell: ({ rate_plan_id: plan, values }: TableProps['nights'][number]) => {
      const { price, is_sold_out: isClosed } = values[index];
      const cost = price === null ? `${money(placeOf(plan)?.plan.base_price ?? '0')} base` : money(price);
      return `${cost}${isClosed ? ', closed' : ''}`;
    },
  });
  return (
    <>
      <Table
        label={labels.join(' and ')}
        keyOf={({ rate_plan_id: plan, date }) => `${plan} ${date}`}
        rows={nights.slice(0, MOST_SHOWN)}
        columns={[
          { label: 'Night', cell: ({ date }) => formatDate(date, 'weekday') },
          { label: 'Plan', cell: ({ rate_plan_id: plan }) => placeOf(plan)?.name },
          columnOf(0),
          columnOf(1),
        ]}
      />
      {nights.length > MOST_SHOWN && <p>And {plural(nights.length - MOST_SHOWN, 'more night')}.</p>}
    </>
  );
}

/** Side by side: what the person wanted, and what others have written meanwhile. */
export function ConflictDialog() {
  const { conflict } = useWrites();
  const { clockWithSeconds } = useFormat();
  if (conflict === null) return null;
  const { nights, rest, label, first } = conflict;
  return (
    <Modal
      opened
      size="lg"
      onClose={() => settle(null)}
      title={`Changed meanwhile: ${plural(nights.length, 'night')}`}
      closeButtonProps={{ 'aria-label': 'Change nothing' }}
    >
      <p style={{ marginTop: 0 }}>
        {first?.name ?? 'Somebody else'} was first{first && `, at ${clockWithSeconds(first.at)}`}. Nothing of “{label}”
        is saved yet.
      </p>
      <NightTable
        labels={['Yours', 'Now']}
        nights={nights.map((night) => ({ ...night, values: [night.after, night.now] }))}
      />
      <Group mt="lg">
        <Button data-autofocus onClick={() => settle('theirs')}>
          Keep theirs{rest.length > 0 && `, save the other ${rest.length}`}
        </Button>
        <Button variant="default" onClick={() => settle('mine')}>
          Keep mine
        </Button>
      </Group>
    </Modal>
  );
}
