import { Anchor, Center, Group, Paper, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useLoaderData, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call, Refused } from '../../api/client.ts';
import { keepSession, type Me } from '../../api/session.ts';
import icon from '../../icon.svg';
import { serverNow, useNow } from '../../live/clock.ts';
import { Form, NewPassword, PasswordField, TextField } from '../../ui/form.tsx';

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
      <PasswordField label="Password" mt="md" required value={password} onChange={setPassword} />
    </SignInForm>
  );
}

/** Signs in a screen without a person, by the eight letters that the owner sees. */
export function Pair() {
  const [code, setCode] = useState('');
  return (
    <SignInForm
      title="Pair this display"
      action="Pair"
      send={() => call('pairDisplay', { body: { pairing_code: code } }, { isSigningIn: true })}
    >
      <TextField
        label="Pairing code"
        description="The owner adds a display under People, and gets eight letters. Type them here within ten minutes."
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        maxLength={9}
        autoFocus
        required
        value={code}
        onChange={(text) => setCode(text.toUpperCase().trim())}
      />
    </SignInForm>
  );
}

/** Where a one-time link leads that does not sign in by itself. */
export function ChoosePassword() {
  const { link, fault = 'A link works once. Open the link of the mail again.' } = useLoaderData({ from: '/welcome' });
  const [password, setPassword] = useState('');
  if (!link) {
    return (
      <Card title="This link no longer works">
        <Text size="sm" mb="md">
          {fault}
        </Text>
        <Anchor href="/console/sign-in">Sign in</Anchor>
      </Card>
    );
  }
  const body = { token: link.token, new_password: password };
  return (
    <SignInForm
      title={link.kind === 'invite' ? 'Welcome. Choose a password' : 'Choose a new password'}
      send={() => call('choosePassword', { body }, { isSigningIn: true })}
    >
      <NewPassword label="Password" autoFocus value={password} onChange={setPassword} />
    </SignInForm>
  );
}

/** Frame of the pages before the sign-in. */
function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Center component="main" mih="100dvh" p={24}>
      <title>{`${title} · Roomservice`}</title>
      <Paper withBorder radius={14} p={32} w="min(380px, 100%)">
        <Group gap={10} mb={24} fw={650}>
          <img src={icon} width={26} height={26} alt="" />
          Roomservice
        </Group>
        <Title fz="xl" mb={16}>
          {title}
        </Title>
        {children}
      </Paper>
    </Center>
  );
}

interface FormProps {
  title: string;
  action?: string;
  send: () => Promise<Me>;
  /** Address to which it goes on. */
  to?: string | undefined;
  /** Another way, below the button. */
  aside?: ReactNode;
  children: ReactNode;
}

/** Page with a form that signs in and goes on to an address. After a 429 it waits, and counts down. */
function SignInForm({ title, action = 'Sign in', send, to = '/', aside, children }: FormProps) {
  const navigate = useNavigate();
  const [waitsUntil, setWaitsUntil] = useState(0);
  const sending = useMutation({
    mutationFn: async () => {
      keepSession(await send());
      await navigate({ href: to, replace: true });
    },
    onError(error) {
      if (!(error instanceof Refused) || error.status !== 429) return;
      setWaitsUntil(serverNow() + (error.retryAfter ?? 60) * 1_000);
      sending.reset();
    },
  });
  const seconds = Math.ceil((waitsUntil - useNow()) / 1_000);
  const wait = seconds > 0 ? new Error(`Too many attempts. Try again in ${seconds} s.`) : null;
  return (
    <Card title={title}>
      <Form action={action} isReady={wait === null} sending={{ ...sending, error: wait ?? sending.error }}>
        {children}
      </Form>
      {aside}
    </Card>
  );
}
