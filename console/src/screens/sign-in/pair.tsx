import { useState } from 'react';
import { call } from '../../api/client.ts';
import { TextField } from '../../ui/form.tsx';
import { SignInForm } from './card.tsx';

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
