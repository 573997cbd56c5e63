import { Anchor, Text } from '@mantine/core';
import { useLoaderData } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { oneTimeLink } from '../../one-time-link.ts';
import { NewPassword } from '../../ui/form.tsx';
import { Card, SignInForm } from './card.tsx';

/** Where a one-time link leads that does not sign in by itself. */
export function ChoosePassword() {
  const fault = useLoaderData({ from: '/welcome' });
  const [password, setPassword] = useState('');
  if (oneTimeLink === null || fault !== null) {
    return (
      <Card title="This link no longer works">
        <Text size="sm" mb="md">
          {fault ?? 'A link works once. Open the link of the mail again.'}
        </Text>
        <Anchor href="/console/sign-in">Sign in</Anchor>
      </Card>
    );
  }
  const body = { token: oneTimeLink.token, new_password: password };
  return (
    <SignInForm
      title={oneTimeLink.kind === 'invite' ? 'Welcome. Choose a password' : 'Choose a new password'}
      send={() => call('choosePassword', { body }, { isSigningIn: true })}
    >
      <NewPassword label="Password" autoFocus value={password} onChange={setPassword} />
    </SignInForm>
  );
}
