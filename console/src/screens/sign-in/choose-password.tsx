import { Anchor, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { heldLink } from '../../one-time-link.ts';
import { NewPassword } from '../../ui/fields.tsx';
import { Card, SignInCard, useSignIn } from './card.tsx';

/** Where a one-time link leads: an invitation, a reset, or the welcome of the demo's owner. */
export function ChoosePassword() {
  const link = heldLink();
  if (link === null) {
    return (
      <Card title="This link is used up">
        <Text size="sm">
          A link works once. Open the link of the mail again, or <Anchor href="/console/sign-in">sign in</Anchor>.
        </Text>
      </Card>
    );
  }
  if (link.kind === 'welcome') return <Welcome token={link.token} />;
  const title = link.kind === 'invite' ? 'Welcome. Choose a password' : 'Choose a new password';
  return <PasswordForm token={link.token} title={title} />;
}

function PasswordForm({ token, title }: { token: string; title: string }) {
  const [password, setPassword] = useState('');
  const body = { token, new_password: password };
  const signIn = useSignIn(() => call('choosePassword', { body }, { isSigningIn: true }));
  return (
    <SignInCard title={title} action="Sign in" signIn={signIn}>
      <NewPassword label="Password" autoFocus value={password} error={signIn.message} onChange={setPassword} />
    </SignInCard>
  );
}

function Welcome({ token }: { token: string }) {
  const isSent = useRef(false);
  const { submit, message } = useSignIn(() => call('welcomeOwner', { body: { token } }, { isSigningIn: true }));
  useEffect(() => {
    if (!isSent.current) {
      isSent.current = true;
      submit();
    }
  });
  if (!message) return null;
  return (
    <Card title="This link no longer works">
      <Text size="sm" mb="md">
        {message}
      </Text>
      <Anchor href="/console/sign-in">Sign in</Anchor>
    </Card>
  );
}
