import { Button, Modal, PasswordInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { call, onSignedOut } from './api/client.ts';
import { keepSession, signOut, useMe } from './api/session.ts';
import { serverNow } from './live/clock.ts';

/** Asks for the password over the page when the session has ended in mid-work. The calls that wait then go on. */
export function AskPassword() {
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    onSignedOut(() => {
      setOpen(true);
      return new Promise((resolve) => waiting.current.push(resolve));
    });
  }, []);
  const signIn = async () => {
    setSending(true);
    try {
      const body = { email: me.person?.email ?? '', password };
      keepSession(await call('startSession', { body }, { isSigningIn: true }));
      setOpen(false);
      setPassword('');
      setFault(null);
      for (const goOn of waiting.current.splice(0)) {
        goOn();
      }
    } catch (error) {
      setFault((error as Error).message);
    } finally {
      setSending(false);
    }
  };
  return (
    <Modal
      opened={isOpen}
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="Your session has ended"
    >
      {me.person === null ? (
        <>
          <p>This display was signed out. Pair it again with a code of the owner.</p>
          <Button component="a" href="/console/pair">
            Pair this display
          </Button>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void signIn();
          }}
        >
          <p>
            {serverNow() < Date.parse(me.session.expires_at)
              ? 'It was ended by you on another device, or by an owner, who may also have reset your password or disabled your account. If your password is refused, ask an owner.'
              : 'It was not used for a long time.'}
          </p>
          <p>Nothing is lost. Type the password of {me.person.email} to go on.</p>
          <input type="hidden" name="username" autoComplete="username" value={me.person.email} readOnly />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            data-autofocus
            value={password}
            error={fault}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" mt="md" loading={isSending}>
            Go on
          </Button>{' '}
          <Button variant="subtle" mt="md" onClick={() => void signOut()}>
            Sign out
          </Button>
        </form>
      )}
    </Modal>
  );
}
