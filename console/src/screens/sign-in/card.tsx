import { Button, Center, Group, Paper, Stack, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Refused } from '../../api/client.ts';
import { keepSession, type Me } from '../../api/session.ts';
import icon from '../../icon.svg';
import { serverNow, useNow } from '../../live/clock.ts';

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
  action: string;
  /** Result of `useSignIn`. */
  signIn: ReturnType<typeof useSignIn>;
  children: ReactNode;
}

/** Page with a form that signs in. */
export function SignInCard({ title, action, signIn, children }: FormProps) {
  return (
    <Card title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn.submit();
        }}
      >
        <Stack gap="md">
          {children}
          <Button type="submit" size="md" loading={signIn.isSending} disabled={signIn.isWaiting} style={{ order: 1 }}>
            {action}
          </Button>
        </Stack>
      </form>
    </Card>
  );
}

/** Signs in and goes on to an address, or holds the fault. After a 429 it waits, and counts down. */
export function useSignIn(send: () => Promise<Me>, to = '/') {
  const navigate = useNavigate();
  const [waitsUntil, setWaitsUntil] = useState(0);
  const sending = useMutation({
    mutationFn: async () => {
      keepSession(await send());
      await navigate({ href: to, replace: true });
    },
    onError: (error) => isTooOften(error) && setWaitsUntil(serverNow() + (error.retryAfter ?? 60) * 1_000),
  });
  const waitSeconds = Math.max(0, Math.ceil((waitsUntil - useNow()) / 1_000));
  const fault = isTooOften(sending.error) ? null : sending.error?.message;
  return {
    submit: () => sending.mutate(),
    message: waitSeconds > 0 ? `Too many attempts. Try again in ${waitSeconds} s.` : fault,
    isSending: sending.isPending,
    isWaiting: waitSeconds > 0,
  };
}

function isTooOften(error: Error | null): error is Refused {
  return error instanceof Refused && error.status === 429;
}
