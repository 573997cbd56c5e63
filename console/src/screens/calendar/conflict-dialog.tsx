import { Button, Group, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/reads.ts';
import { plural } from '../../ui/format.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { NightTable } from './night-table.tsx';
import type { RoomType } from './nights.ts';
import { settle, useWrites } from './writes.ts';

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
