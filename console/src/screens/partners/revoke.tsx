import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useKeyWrite } from './use-key-write.ts';

interface Props {
  label: string;
  /** Says what will happen. */
  text: string;
  revoke: () => Promise<unknown>;
  isOpen: boolean;
  onClose: () => void;
}

/** Asks to type the name of a key before it is revoked, because nobody can take that back. */
export function Revoke({ label, text, revoke, isOpen, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const word = label || 'revoke';
  const close = () => {
    setTyped('');
    onClose();
  };
  const { mutate, error, isPending } = useKeyWrite(revoke, close);
  return (
    <FormDialog
      title={`Revoke ${label || 'this key'}`}
      isOpen={isOpen}
      onClose={close}
      action="Revoke"
      isFinal
      isReady={typed.trim() === word}
      isSending={isPending}
      onSubmit={mutate}
    >
      <p>{text} This cannot be undone.</p>
      <TextInput
        label={`Type “${word}” to confirm`}
        autoComplete="off"
        data-autofocus
        value={typed}
        error={error?.message}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
