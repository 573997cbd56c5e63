import { Button, Modal } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { Note } from './status.tsx';
import { makeStore, useStore } from './store.ts';

interface Once {
  title: string;
  note: string;
  content: ReactNode;
}

const shown = makeStore<Once | null>(null);

/** Shows a secret that the service shows once. The screen has a `OnceDialog`. */
export const showOnce = shown.set;

function forget(): void {
  shown.set(null);
}

/** The secret is gone when this closes: only by its button, so not by Escape or Back, and a reload asks first. */
export function OnceDialog() {
  const once = useStore(shown);
  useEffect(() => forget, []);
  useBlocker({ shouldBlockFn: ({ action }) => action === 'BACK', disabled: once === null });
  return (
    <Modal
      opened={once !== null}
      onClose={forget}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      size={560}
      title={once?.title}
    >
      {once && (
        <>
          {/* Not the button that closes: a second Enter of the form before would lose the secret. */}
          <div tabIndex={-1} data-autofocus style={{ outline: 0 }}>
            <Note>{once.note}</Note>
          </div>
          {once.content}
          <Button display="block" ml="auto" onClick={forget}>
            I have it
          </Button>
        </>
      )}
    </Modal>
  );
}
