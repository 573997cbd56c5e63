import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';

interface Props {
  title: string;
  /** Says what will happen. */
  text: string;
  /** Word that has to be typed. */
  word: string;
  action: string;
  isOpen: boolean;
  isPending: boolean;
  error: Error | null;
  onClose: () => void;
  onConfirm: () => void;
}

/** Asks to type a word before something that cannot be undone. */
export function ConfirmTyping({ title, text, word, action, isOpen, isPending, error, onClose, onConfirm }: Props) {
  const [typed, setTyped] = useState('');
  const isRight = typed.trim() === word;
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isRight) onConfirm();
        }}
      >
        <p>{text}</p>
        <TextInput
          label={`Type “${word}” to confirm`}
          autoComplete="off"
          data-autofocus
          value={typed}
          error={error?.message}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={isPending} disabled={!isRight}>
            {action}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
