import { Anchor } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { PasswordField, TextField } from '../../ui/form.tsx';
import { SignInForm } from './card.tsx';

export function SignIn() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { to } = useSearch({ from: '/sign-in' });
  return (
    <SignInForm
      title="Sign in"
      send={() => call('startSession', { body: { email, password } }, { isSigningIn: true })}
      to={to}
      aside={
        <Anchor href="/console/pair" size="sm" display="block" mt="md">
          Pair a display instead
        </Anchor>
      }
    >
      <TextField
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onChange={setEmail}
      />
      <PasswordField label="Password" required value={password} onChange={setPassword} />
    </SignInForm>
  );
}
