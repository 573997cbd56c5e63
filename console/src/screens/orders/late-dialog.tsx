import { Button, NumberInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { DEFAULT_LATE, keepLateMinutes, type LateMinutes, useLateMinutes } from './late.ts';
import { OPEN_STATUSES, STATUS } from './statuses.ts';

/** Asks after how many minutes an order is late. The answer is kept in this browser. */
export function LateDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const kept = useLateMinutes();
  const [typed, setTyped] = useState<LateMinutes | null>(null);
  const minutes = typed ?? kept;
  const close = () => {
    setTyped(null);
    onClose();
  };
  const keep = () => {
    keepLateMinutes(minutes);
    close();
  };
  return (
    <FormDialog title="When is an order late?" isOpen={isOpen} onClose={close} action="Keep" onSubmit={keep}>
      <p className="quiet">
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
          onChange={(value) => setTyped({ ...minutes, [status]: Number(value) || DEFAULT_LATE[status] })}
        />
      ))}
      <Button mt="sm" variant="subtle" onClick={() => setTyped(DEFAULT_LATE)}>
        Usual times
      </Button>
    </FormDialog>
  );
}
