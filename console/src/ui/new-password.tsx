import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** Shortest password that the API accepts. It has no other rule. */
const SHORTEST = 12;

/** Field for a password that a person chooses, with the rule for it. */
export function NewPassword(props: PasswordInputProps) {
  return (
    <PasswordInput
      description={`At least ${SHORTEST} characters. A few words in a row are easy to remember.`}
      autoComplete="new-password"
      minLength={SHORTEST}
      required
      withAsterisk={false}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0 }}
      {...props}
    />
  );
}
