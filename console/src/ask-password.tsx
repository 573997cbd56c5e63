import { Button, Modal } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call, onSignedOut } from './api/client.ts';
import { keepSession, type Me, signOut, useMe } from './api/session.ts';
import { serverNow } from './live/clock.ts';
import { Form, PasswordField } from './ui/form.tsx';

/** The form that was being sent is a dialog, too, and stays open below. */
const ABOVE_DIALOGS = 400;

/** Asks for the password over the page when the session has ended in mid-work. The calls that wait then go on. */
export function AskPassword() {
  const { person, display, session } = useMe();
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState('');
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    onSignedOut(() => {
      setOpen(true);
      return new Promise((resolve) => waiting.current.push(resolve));
    });
  }, []);
  const resume = (me: Me) => {
    // Nothing of one person may be sent in the name of another.
    if (me.person?.id !== person?.id || me.display?.id !== display?.id) return window.location.reload();
    keepSession(me);
    setOpen(false);
    setPassword('');
    for (const goOn of waiting.current.splice(0)) goOn();
  };
  const sending = useMutation({
    mutationFn: async () => {
      const body = { email: person?.email ?? '', password };
      resume(await call('startSession', { body }, { isSigningIn: true }));
    },
  });
  // Somebody may have signed in on another tab.
  useWindowEvent('focus', () => {
    if (isOpen) void call('getMe', {}, { isSigningIn: true }).then(resume, () => {});
  });
  return (
    <Modal
      opened={isOpen}
      onClose={() => {}}
      withCloseButton={false}
      zIndex={ABOVE_DIALOGS}
      title="Your session has ended"
    >
      {person === null ? (
        <>
          <p>This display was signed out. Pair it again with a code of the owner.</p>
          <Button component="a" href="/console/pair">
            Pair this display
          </Button>
        </>
      ) : (
        <Form action="Go on" sending={sending} cancel="Sign out" onCancel={() => void signOut()}>
          <p>
            {serverNow() < Date.parse(session.expires_at)
              ? 'It was ended by you on another device, or by an owner, who may also have reset your password or disabled your account. If your password is refused, ask an owner.'
              : 'It was not used for a long time.'}
          </p>
          <p>Nothing is lost. Type the password of {person.email} to go on.</p>
          <input type="hidden" name="username" autoComplete="username" value={person.email} readOnly />
          <PasswordField
            label="Password"
            data-autofocus
            // Else Escape would close the dialog below, with all that was typed.
            data-mantine-stop-propagation
            value={password}
            onChange={setPassword}
          />
        </Form>
      )}
    </Modal>
  );
}
