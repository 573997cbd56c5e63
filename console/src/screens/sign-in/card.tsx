import { Center, Group, Paper, Stack, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Refused } from '../../api/client.ts';
import { keepSession, type Me } from '../../api/session.ts';
import icon from '../../icon.svg';
import { serverNow, useNow } from '../../live/clock.ts';
import { Form } from '../../ui/form.tsx';

/** Frame of the pages before the sign-in. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
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
  /** Word of the button. */
  action?: string;
  send: () => Promise<Me>;
  /** Address to which it goes on. */
  to?: string | undefined;
  /** Another way, below the button. */
  aside?: ReactNode;
  children: ReactNode;
}

/** Page with a form that signs in and goes on to an address. After a 429 it waits, and counts down. */
export function SignInForm({ title, action = 'Sign in', send, to = '/', aside, children }: FormProps) {
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
        <Stack gap="md">{children}</Stack>
      </Form>
      {aside}
    </Card>
  );
}
