import { Anchor } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { PasswordField, TextField } from '../../ui/fields.tsx';
import { SignInCard, useSignIn } from './card.tsx';

export function SignIn() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { to } = useSearch({ from: '/sign-in' });
  const signIn = useSignIn(() => call('startSession', { body: { email, password } }, { isSigningIn: true }), to);
  return (
    <SignInCard title="Sign in" action="Sign in" signIn={signIn}>
      <TextField
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onChange={setEmail}
      />
      <PasswordField label="Password" required value={password} error={signIn.message} onChange={setPassword} />
      <Anchor size="sm" c="dimmed" href="/console/pair" style={{ order: 2 }}>
        Pair a display instead
      </Anchor>
    </SignInCard>
  );
}
