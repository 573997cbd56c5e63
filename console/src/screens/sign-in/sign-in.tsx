import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { keepSession } from '../../api/session.ts';
import { Card } from './card.tsx';
import { useSubmit } from './use-submit.ts';

export function SignIn() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { to } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const { submit, message, isSending, isWaiting } = useSubmit(async () => {
    keepSession(await call('startSession', { body: { email, password } }, { isSigningIn: true }));
    await navigate({ href: to ?? '/' });
  });
  return (
    <Card title="Sign in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="md">
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            data-autofocus
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            error={message}
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0 }}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" size="md" loading={isSending} disabled={isWaiting}>
            Sign in
          </Button>
          <Anchor size="sm" c="dimmed" href="/console/pair">
            Pair a display instead
          </Anchor>
        </Stack>
      </form>
    </Card>
  );
}
