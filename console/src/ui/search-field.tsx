import { Kbd, TextInput } from '@mantine/core';
import { useEffect, useMemo, useRef } from 'react';
import { type Command, useCommands } from './commands.ts';
import { SearchIcon } from './icons.tsx';

interface Props {
  /** Says what is searched. */
  label: string;
  placeholder: string;
  /** As the address has it. */
  value: string | undefined;
  onChange: (text: string | undefined) => void;
}

/** Searches the screen while somebody types. The key `/` leads to it. */
export function SearchField({ label, placeholder, value = '', onChange }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useCommands(
    useMemo<Command[]>(
      () => [{ id: 'search', label, group: 'Screen', keys: '/', run: () => field.current?.focus() }],
      [label],
    ),
  );
  useEffect(() => {
    // The address follows what is typed, so it may be behind.
    if (field.current && field.current !== document.activeElement) field.current.value = value;
  }, [value]);
  return (
    <TextInput
      ref={field}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<SearchIcon size={15} />}
      rightSection={<Kbd size="xs">/</Kbd>}
      defaultValue={value}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}
