import { Button, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call, onSignedOut } from './api/client.ts';
import { keepSession, signOut, useMe } from './api/session.ts';
import { serverNow } from './live/clock.ts';
import { Form, PasswordField } from './ui/form.tsx';

/** Asks for the password over the page when the session has ended in mid-work. The calls that wait then go on. */
export function AskPassword() {
  const { person, session } = useMe();
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState('');
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    onSignedOut(() => {
      setOpen(true);
      return new Promise((resolve) => waiting.current.push(resolve));
    });
  }, []);
  const sending = useMutation({
    mutationFn: async () => {
      const body = { email: person?.email ?? '', password };
      keepSession(await call('startSession', { body }, { isSigningIn: true }));
      setOpen(false);
      setPassword('');
      for (const goOn of waiting.current.splice(0)) goOn();
    },
  });
  return (
    <Modal
      opened={isOpen}
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
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
          <PasswordField label="Password" data-autofocus value={password} onChange={setPassword} />
        </Form>
      )}
    </Modal>
  );
}
