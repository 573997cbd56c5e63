import { Stack } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { Chips } from './filters.tsx';
import { FormDialog, TextField } from './form.tsx';

export interface Question {
  title: string;
  text: ReactNode;
  /** Reasons that are often given. Left out: nobody is asked for a reason. */
  reasons?: string[];
  press: string;
  isGrave: boolean;
  run: (reason: string | undefined) => void;
}

/** Asks before something that nobody can take back. */
export function ReasonDialog({ question, onClose }: { question: Question | null; onClose: () => void }) {
  const [last, setLast] = useState(question);
  // The words stay while the dialog fades.
  if (question !== null && question !== last) setLast(question);
  const { title = '', text, reasons, press = '', isGrave, run } = question ?? last ?? {};
  const [reason, setReason] = useState('');
  useEffect(() => setReason(''), [question === null]);
  const answer = () => {
    onClose();
    run?.(reason.trim() || undefined);
  };
  return (
    <FormDialog
      title={title}
      isOpen={question !== null}
      onClose={onClose}
      action={press}
      color={isGrave ? 'red' : undefined}
      cancel="Keep it"
      sending={{ mutate: answer, reset() {}, isPending: false, error: null }}
    >
      <p style={{ marginTop: 0 }}>{text}</p>
      {reasons && (
        <Stack gap={10}>
          <TextField
            label="Reason"
            description="For your people alone. Partners never see it."
            maxLength={200}
            data-autofocus
            value={reason}
            onChange={setReason}
          />
          <Chips
            label="Often given"
            options={reasons.map((each) => ({ value: each, label: each.slice(0, -1) }))}
            isPressed={(each) => each === reason}
            onPress={setReason}
          />
        </Stack>
      )}
    </FormDialog>
  );
}
