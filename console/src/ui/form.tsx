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
import { useBlocker } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react';
import type { OperationName } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Refusal } from './loaded.tsx';
import { Note } from './status.tsx';

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

/** A field for a password that a person chooses, with the rule for it. */
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
  /** False while there is nothing to send, or something is missing. */
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

/** A form: its fields, the words of a refusal, and the button that sends it. */
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

interface ConfirmProps extends Omit<ComponentProps<typeof FormDialog>, 'children'> {
  text: string;
  /** Word that has to be typed first, for what cannot be undone. */
  word?: string;
}

/** Says what will happen, and asks before it does. */
export function Confirm({ text, word, ...dialog }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  useEffect(() => setTyped(''), [dialog.isOpen]);
  return (
    <FormDialog {...dialog} isReady={word === undefined || typed.trim() === word}>
      <p style={{ marginTop: 0 }}>{text}</p>
      {word !== undefined && (
        <TextField
          label={`Type “${word}” to confirm`}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={setTyped}
        />
      )}
    </FormDialog>
  );
}

interface OnceProps {
  title: string;
  note: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

/**
 * Dialog for a secret that the service shows once. The secret lives in its children alone, and is gone when it closes: only by its button,
 * so not by Escape or Back, and a reload asks first.
 */
export function OnceDialog({ title, note, isOpen, onClose, children }: OnceProps) {
  useBlocker({ shouldBlockFn: ({ action }) => action === 'BACK', disabled: !isOpen });
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      size={560}
      title={title}
    >
      {isOpen && (
        <>
          {/* Not the button that closes: a second Enter of the form before would lose the secret. */}
          <div tabIndex={-1} data-autofocus style={{ outline: 0 }}>
            <Note>{note}</Note>
          </div>
          {children}
          <Button display="block" ml="auto" onClick={onClose}>
            I have it
          </Button>
        </>
      )}
    </Modal>
  );
}
