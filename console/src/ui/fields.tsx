import { PasswordInput, type PasswordInputProps, TextInput, type TextInputProps } from '@mantine/core';

interface OnText {
  value: string;
  onChange: (text: string) => void;
}

/** A field for a text. */
export function TextField({ onChange, ...props }: Omit<TextInputProps, keyof OnText> & OnText) {
  return <TextInput withAsterisk={false} onChange={(event) => onChange(event.currentTarget.value)} {...props} />;
}

type PasswordProps = Omit<PasswordInputProps, keyof OnText | 'label'> & OnText & { label: string };

/** A field for a password, which can be shown. */
export function PasswordField({ label, onChange, ...props }: PasswordProps) {
  return (
    <PasswordInput
      label={label}
      autoComplete="current-password"
      withAsterisk={false}
      visibilityToggleButtonProps={{ 'aria-label': `Show the ${label.toLowerCase()}`, tabIndex: 0 }}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  );
}

/** Shortest password that the API accepts. It has no other rule. */
const SHORTEST = 12;

/** A field for a password that a person chooses, with the rule for it. */
export function NewPassword(props: PasswordProps) {
  return (
    <PasswordField
      description={`At least ${SHORTEST} characters. A few words in a row are easy to remember.`}
      autoComplete="new-password"
      minLength={SHORTEST}
      required
      {...props}
    />
  );
}
