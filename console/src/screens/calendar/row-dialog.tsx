import { Modal, NumberInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMe } from '../../api/session.ts';
import { Form, useWrite } from '../../ui/form.tsx';
import { amountOf } from './nights.ts';
import type { Row } from './rows.tsx';

/** What is set for a room type or a plan on all nights. */
export function RowDialog({ row, onClose }: { row: Row | null; onClose: () => void }) {
  return (
    <Modal opened={row !== null} onClose={onClose} title={row?.fullName}>
      {row && <Fields row={row} onClose={onClose} />}
    </Modal>
  );
}

function Fields({ row: { type, plan }, onClose }: { row: Row; onClose: () => void }) {
  const { currency } = useMe().tenant;
  const [price, setPrice] = useState(plan?.base_price ?? '0');
  // Empty while it is typed anew.
  const [typed, setTyped] = useState<number | string>(plan?.min_nights ?? type.physical_capacity);
  const count = Number(typed);
  const amount = amountOf(price);
  const send = async (): Promise<unknown> =>
    plan === null
      ? await call('changeRoomType', { path: { id: type.id }, body: { physical_capacity: count } })
      : await call('changeRatePlan', { path: { id: plan.id }, body: { base_price: amount ?? '', min_nights: count } });
  const sending = useWrite(['getCalendar', 'listProperties'], send, onClose);
  return (
    <Form action="Save" sending={sending} isReady={amount !== null && typed !== ''} onCancel={onClose}>
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
        value={typed}
        onChange={setTyped}
      />
    </Form>
  );
}
