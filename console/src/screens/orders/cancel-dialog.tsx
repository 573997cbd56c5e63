import { Button, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
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
  return (
    <Modal opened={order !== null} onClose={onClose} title={order && `Cancel order #${order.number}?`}>
      {order && <Form key={order.order_id} order={order} onClose={onClose} />}
    </Modal>
  );
}

function Form({ order, onClose }: { order: Order; onClose: () => void }) {
  const [reason, setReason] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        cancelOrder(order, reason.trim());
        onClose();
      }}
    >
      <p style={{ marginTop: 0 }}>{partnerOf(order)} is told at once. This cannot be undone.</p>
      <TextInput
        label="Reason"
        description="For your people alone. Partners never see it."
        maxLength={200}
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <div style={{ display: 'flex', flexWrap: 'wrap', gap: 6, marginTop: 10 }}>
        {REASONS.map((each) => (
          <Button key={each} variant="default" radius="xl" size="compact-sm" h={36} onClick={() => setReason(each)}>
            {each.slice(0, -1)}
          </Button>
        ))}
      </div>
      <div style={{ display: 'flex', gap: 8, marginTop: 24 }}>
        <Button type="submit" color="red.9">
          Cancel the order
        </Button>
        <Button variant="default" onClick={onClose}>
          Keep it
        </Button>
      </div>
    </form>
  );
}
