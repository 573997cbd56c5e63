import { Button, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { Note } from './status.tsx';

interface Props {
  title: string;
  note: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Dialog for a secret that the service shows once. The secret lives in its children alone, and is gone when it closes. */
export function OnceDialog({ title, note, isOpen, onClose, children }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} closeOnClickOutside={false} size={560} title={title}>
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
