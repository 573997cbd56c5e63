import { Button, Modal, NumberInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';
import { useMe } from '../../api/session.ts';
import { amountOf, type Row } from './nights.ts';

/** What is set for a room type or a plan on all nights. */
export function RowDialog({ row, onClose }: { row: Row | null; onClose: () => void }) {
  const title = row && [row.type.name, row.plan?.name].filter(Boolean).join(', ');
  return (
    <Modal opened={row !== null} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      {row && <Form row={row} onClose={onClose} />}
    </Modal>
  );
}

function Form({ row: { type, plan }, onClose }: { row: Row; onClose: () => void }) {
  const { currency } = useMe().tenant;
  const [price, setPrice] = useState(plan?.base_price ?? '0');
  const [count, setCount] = useState(plan?.min_nights ?? type.physical_capacity);
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const body = { base_price: amountOf(price) ?? price, min_nights: count };
      if (plan) await call('changeRatePlan', { path: { id: plan.id }, body });
      else await call('changeRoomType', { path: { id: type.id }, body: { physical_capacity: count } });
    },
    onSuccess() {
      onClose();
      rereadTopics(new Set(['rates', 'rooms']));
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      {plan && (
        <TextInput
          label={`Base price in ${currency}`}
          description="For each night that has no price of its own."
          inputMode="decimal"
          data-autofocus
          mb="md"
          value={price}
          onChange={(event) => setPrice(event.currentTarget.value)}
        />
      )}
      <NumberInput
        label={plan ? 'Shortest stay in nights' : 'Rooms'}
        min={plan ? 1 : 0}
        allowDecimal={false}
        data-autofocus={plan === null || undefined}
        value={count}
        onChange={(value) => setCount(Number(value))}
        error={error?.message}
      />
      <Button type="submit" mt="lg" loading={isPending} disabled={amountOf(price) === null}>
        Save
      </Button>
    </form>
  );
}
