import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { cancelOrder } from './moves.ts';
import { type Order, partnerOf } from './statuses.ts';

const REASONS = [
  'A dish is sold out.',
  'The kitchen is too busy.',
  'The guest asked for it.',
  'The guest cannot be reached.',
];

/** Asks before an order is cancelled, because nobody can take that back. */
export function CancelDialog({ order, onClose }: { order: Order | null; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const close = () => {
    setReason('');
    onClose();
  };
  const cancel = () => {
    if (order) cancelOrder(order, reason.trim());
    close();
  };
  return (
    <FormDialog
      title={order && `Cancel order #${order.number}?`}
      isOpen={order !== null}
      onClose={close}
      action="Cancel the order"
      dismiss="Keep it"
      isFinal
      onSubmit={cancel}
    >
      <p className="quiet">{order && partnerOf(order)} is told at once. This cannot be undone.</p>
      <TextInput
        mt="sm"
        label="Reason"
        description="For your people alone. Partners never see it."
        maxLength={200}
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Group gap={6} mt="xs">
        {REASONS.map((each) => (
          <Button key={each} variant="default" radius="xl" size="compact-sm" h={36} onClick={() => setReason(each)}>
            {each.slice(0, -1)}
          </Button>
        ))}
      </Group>
    </FormDialog>
  );
}
