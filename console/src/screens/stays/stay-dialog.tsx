import { Button, Group, Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { useHouse } from '../../api/house.ts';
import { useFormat } from '../../ui/format.ts';
import { StayForm } from './stay-form.tsx';
import { formatNights, type Stay } from './statuses.ts';

interface Props {
  /** The stay that is changed. `new`: a walk-in or a guest on the phone. Null: the dialog is closed. */
  stay: Stay | 'new' | null;
  property: string | undefined;
  onClose: () => void;
  open: (id: string) => void;
}

/** Books a stay of the house, or changes one. */
export function StayDialog({ stay, property, onClose, open }: Props) {
  const own = stay === 'new' || stay === null ? undefined : stay;
  const [booked, setBooked] = useState<Stay | null>(null);
  if (stay === null && booked !== null) setBooked(null);
  return (
    <Modal
      opened={stay !== null}
      onClose={onClose}
      closeOnClickOutside={false}
      size={560}
      title={booked ? 'Booked' : own ? `Change ${own.natural_id} of ${own.guest.name}` : 'New stay'}
    >
      {booked && <Booked stay={booked} onClose={onClose} open={open} />}
      {stay !== null && booked === null && (
        <StayForm own={own} property={property} onCancel={onClose} onSaved={own ? onClose : setBooked} />
      )}
    </Modal>
  );
}

function Booked({ stay, onClose, open }: { stay: Stay } & Pick<Props, 'onClose' | 'open'>) {
  const { nameOf } = useHouse();
  const { money } = useFormat();
  return (
    <>
      <p className="quiet">The reference for {stay.guest.name}</p>
      <Text ff="monospace" fz={44} fw={650} lts="0.06em" lh={1.3}>
        {stay.natural_id}
      </Text>
      <p className="quiet">
        {nameOf(stay.room_type_id)}, {formatNights(stay)}, {money(stay.total_amount)}
      </p>
      <Group gap="xs" mt="lg">
        <Button autoFocus onClick={onClose}>
          Done
        </Button>
        <Button variant="default" onClick={() => open(stay.reservation_id)}>
          Open the stay
        </Button>
      </Group>
    </>
  );
}
