import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { keepSession } from '../../api/session.ts';
import { heldLink } from '../../one-time-link.ts';
import { NewPassword } from '../../ui/new-password.tsx';
import { useSubmit } from './use-submit.ts';
import { Card } from './card.tsx';

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
  return link.kind === 'welcome' ? (
    <Welcome token={link.token} />
  ) : (
    <PasswordForm
      token={link.token}
      title={link.kind === 'invite' ? 'Welcome. Choose a password' : 'Choose a new password'}
    />
  );
}

function PasswordForm({ token, title }: { token: string; title: string }) {
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  const { submit, message, isSending, isWaiting } = useSubmit(async () => {
    keepSession(await call('choosePassword', { body: { token, new_password: password } }, { isSigningIn: true }));
    await navigate({ to: '/', replace: true });
  });
  return (
    <Card title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="md">
          <NewPassword
            label="Password"
            autoFocus
            value={password}
            error={message}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" size="md" loading={isSending} disabled={isWaiting}>
            Sign in
          </Button>
        </Stack>
      </form>
    </Card>
  );
}

function Welcome({ token }: { token: string }) {
  const navigate = useNavigate();
  const isSent = useRef(false);
  const { submit, message } = useSubmit(async () => {
    keepSession(await call('welcomeOwner', { body: { token } }, { isSigningIn: true }));
    await navigate({ to: '/', replace: true });
  });
  useEffect(() => {
    if (!isSent.current) {
      isSent.current = true;
      submit();
    }
  });
  return message === null ? null : (
    <Card title="This link no longer works">
      <Text size="sm" mb="md">
        {message}
      </Text>
      <Anchor href="/console/sign-in">Sign in</Anchor>
    </Card>
  );
}
