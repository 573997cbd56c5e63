import {
  Button,
  Group,
  Modal,
  PasswordInput,
  type PasswordInputProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { OperationName } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Refusal } from './loaded.tsx';

interface OnText {
  value: string;
  onChange: (text: string) => void;
}

export function TextField({ onChange, ...props }: Omit<TextInputProps, keyof OnText> & OnText) {
  return <TextInput withAsterisk={false} onChange={(event) => onChange(event.currentTarget.value)} {...props} />;
}

type PasswordProps = Omit<PasswordInputProps, keyof OnText | 'label'> & OnText & { label: string };

export function PasswordField({ label, onChange, ...props }: PasswordProps) {
  return (
    <PasswordInput
      label={label}
      autoComplete="current-password"
      withAsterisk={false}
      visibilityToggleButtonProps={{ 'aria-label': `Show the ${label.toLowerCase()}`, tabIndex: 0 }}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  );
}

/** Shortest password that the API accepts. It has no other rule. */
const SHORTEST = 12;

export function NewPassword(props: PasswordProps) {
  return (
    <PasswordField
      description={`At least ${SHORTEST} characters. A few words in a row are easy to remember.`}
      autoComplete="new-password"
      minLength={SHORTEST}
      required
      {...props}
    />
  );
}

/** A write of a form or a button, after which the reads that show it are made again. The answer may hold a secret, so no cache keeps it. */
export function useWrite<Answer, Input = void>(
  reads: OperationName[],
  send: (input: Input) => Promise<Answer>,
  done: (answer: Answer) => void = () => {},
) {
  return useMutation({
    mutationFn: async (input: Input) => {
      done(await send(input));
      await Promise.all(reads.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
    },
  });
}

interface FormProps {
  action: string;
  color?: 'red' | undefined;
  /** Result of `useWrite`. */
  sending: { mutate: () => void; reset: () => void; isPending: boolean; error: Error | null };
  isReady?: boolean;
  /** Of a form in a dialog: a button that leaves it stands before the other. */
  onCancel?: () => void;
  cancel?: string;
  children: ReactNode;
}

/** The buttons of a dialog stay in sight, however long the dialog is. */
const AT_FOOT = {
  justify: 'flex-end',
  gap: 8,
  pos: 'sticky',
  bottom: 0,
  mt: 'xs',
  mb: -16,
  py: 16,
  bg: 'var(--rs-surface)',
} as const;

export function Form({ action, color, sending, isReady = true, onCancel, cancel = 'Cancel', children }: FormProps) {
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
      <Group {...(onCancel ? AT_FOOT : { mt: 'md' })}>
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {cancel}
          </Button>
        )}
        <Button
          type="submit"
          color={color && `${color}.9`}
          loading={sending.isPending}
          disabled={!isReady}
          // The second press of a double press may come before the button waits.
          onClick={(event) => event.detail > 1 && event.preventDefault()}
        >
          {action}
        </Button>
      </Group>
    </form>
  );
}

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
}

export function FormDialog({ title, isOpen, onClose, ...form }: FormProps & DialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Form {...form} onCancel={onClose} />
    </Modal>
  );
}
