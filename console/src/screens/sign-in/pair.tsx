import { Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { TextField } from '../../ui/fields.tsx';
import { SignInCard, useSignIn } from './card.tsx';

/** Signs in a screen without a person, by the eight letters that the owner sees. */
export function Pair() {
  const [code, setCode] = useState('');
  const signIn = useSignIn(() => call('pairDisplay', { body: { pairing_code: code } }, { isSigningIn: true }));
  return (
    <SignInCard title="Pair this display" action="Pair" signIn={signIn}>
      <Text size="sm" c="dimmed">
        The owner adds a display under People, and gets eight letters. Type them here within ten minutes.
      </Text>
      <TextField
        label="Pairing code"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        maxLength={9}
        autoFocus
        required
        value={code}
        error={signIn.message}
        onChange={(text) => setCode(text.toUpperCase().trim())}
      />
    </SignInCard>
  );
}
