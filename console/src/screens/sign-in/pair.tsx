import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { keepSession } from '../../api/session.ts';
import { Card } from './card.tsx';
import { useSubmit } from './use-submit.ts';

/** Signs in a screen without a person, by the eight letters that the owner sees. */
export function Pair() {
  const [code, setCode] = useState('');
  const navigate = useNavigate();
  const { submit, message, isSending, isWaiting } = useSubmit(async () => {
    keepSession(await call('pairDisplay', { body: { pairing_code: code } }, { isSigningIn: true }));
    await navigate({ to: '/' });
  });
  return (
    <Card title="Pair this display">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            The owner adds a display under People, and gets eight letters. Type them here within ten minutes.
          </Text>
          <TextInput
            label="Pairing code"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={9}
            autoFocus
            required
            withAsterisk={false}
            value={code}
            error={message}
            onChange={(event) => setCode(event.currentTarget.value.toUpperCase().trim())}
          />
          <Button type="submit" size="md" loading={isSending} disabled={isWaiting}>
            Pair
          </Button>
        </Stack>
      </form>
    </Card>
  );
}
