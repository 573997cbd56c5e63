import { Button, Group } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Refusal } from './failure.tsx';

interface Props {
  /** Word of the button that sends the form. */
  action: string;
  /** Red is for what takes something away. */
  color?: 'red' | undefined;
  /** Result of `useMutation`. */
  sending: { mutate: () => void; reset: () => void; isPending: boolean; error: Error | null };
  /** False while there is nothing to send, or something is missing. */
  isReady?: boolean;
  /** Of a form in a dialog: Cancel stands before the button. */
  onCancel?: () => void;
  children: ReactNode;
}

/** A form: its fields, the words of a refusal, and the button that sends it. */
export function Form({ action, color, sending, isReady = true, onCancel, children }: Props) {
  const { reset } = sending;
  // A dialog that opens again begins without the refusal of before.
  useEffect(reset, [reset]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !sending.isPending) sending.mutate();
      }}
    >
      {children}
      <Refusal>{sending.error?.message}</Refusal>
      <Group justify={onCancel && 'flex-end'} mt={onCancel ? 'lg' : 'md'}>
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" color={color} loading={sending.isPending} disabled={!isReady}>
          {action}
        </Button>
      </Group>
    </form>
  );
}
