import { Button, Modal, NumberInput } from '@mantine/core';
import { useState } from 'react';
import { DEFAULT_LATE, keepLateMinutes, useLateMinutes } from './late.ts';
import { OPEN_STATUSES, STATUS } from './statuses.ts';

/** Asks after how many minutes an order is late. The answer is kept in this browser. */
export function LateDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title="When is an order late?"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isOpen && <Form onClose={onClose} />}
    </Modal>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const kept = useLateMinutes();
  const [minutes, setMinutes] = useState(kept);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        keepLateMinutes(minutes);
        onClose();
      }}
    >
      <p style={{ marginTop: 0 }}>
        After this many minutes in a column. An order with a promised time is late when that has passed. Kept in this
        browser.
      </p>
      {OPEN_STATUSES.map((status) => (
        <NumberInput
          key={status}
          mt="xs"
          label={STATUS[status].label}
          suffix=" min"
          min={1}
          max={600}
          allowDecimal={false}
          value={minutes[status]}
          onChange={(value) => setMinutes({ ...minutes, [status]: Number(value) || DEFAULT_LATE[status] })}
        />
      ))}
      <div style={{ display: 'flex', gap: 8, marginTop: 24 }}>
        <Button type="submit">Keep</Button>
        <Button variant="default" onClick={() => setMinutes(DEFAULT_LATE)}>
          Usual times
        </Button>
      </div>
    </form>
  );
}
