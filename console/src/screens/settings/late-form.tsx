import { NumberInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from '../../ui/form.tsx';
import { DEFAULT_LATE, keepLateMinutes, useLateMinutes } from '../orders/late.ts';
import { OPEN_STATUSES, STATUS } from '../orders/statuses.ts';
import classes from './settings.module.css';

/** After how many minutes in each column an order is late. */
export function LateForm() {
  const kept = useLateMinutes();
  const [minutes, setMinutes] = useState(kept);
  const keeping = useMutation({ mutationFn: async () => keepLateMinutes(minutes) });
  return (
    <Form action="Keep" sending={keeping} isReady={OPEN_STATUSES.some((status) => minutes[status] !== kept[status])}>
      <p className={classes.note}>
        An order is late after this many minutes in a column, or when a promised time has passed. Empty a field for the
        usual time. Kept in this browser.
      </p>
      <div className={classes.minutes}>
        {OPEN_STATUSES.map((status) => (
          <NumberInput
            key={status}
            label={STATUS[status].label}
            suffix=" min"
            min={1}
            max={600}
            allowDecimal={false}
            value={minutes[status]}
            onChange={(value) => setMinutes({ ...minutes, [status]: Number(value) || DEFAULT_LATE[status] })}
          />
        ))}
      </div>
    </Form>
  );
}
