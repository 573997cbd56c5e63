import { Button, Group, Modal } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  /** Words of the button that sends the form. */
  action: string;
  onSubmit: () => void;
  isSending?: boolean;
  /** False while the form cannot be sent. */
  isReady?: boolean;
  /** The action cannot be taken back. */
  isFinal?: boolean;
  /** Words of the button that closes the dialog. */
  dismiss?: string;
  children: ReactNode;
}

/** A dialog that asks something before it acts. */
export function FormDialog({ title, isOpen, onClose, action, onSubmit, children, ...more }: Props) {
  const { isSending = false, isReady = true, isFinal = false, dismiss = 'Cancel' } = more;
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onSubmit();
        }}
      >
        {children}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={onClose}>
            {dismiss}
          </Button>
          <Button type="submit" color={isFinal ? 'red.9' : undefined} loading={isSending} disabled={!isReady}>
            {action}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
