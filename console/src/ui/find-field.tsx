import { ActionIcon, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { commandsOf, useCommands } from './commands.ts';
import { CloseIcon, SearchIcon } from './icons.tsx';

/** A person types on, so the search waits this long. */
const WAIT_MS = 150;

interface Props {
  label: string;
  placeholder: string;
  text: string | undefined;
  /** `isEntered`: the person has pressed Enter, and wants the first result. */
  onFind: (text: string | undefined, isEntered: boolean) => void;
}

/** The search field of a screen, which `/` reaches. It finds while one types. */
export function FindField({ label, placeholder, text, onFind }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(text ?? '');
  useEffect(() => {
    // Nobody types, so the address has changed by something else, for example by Back.
    if (document.activeElement !== input.current) setTyped(text ?? '');
  }, [text]);
  const findSoon = useDebouncedCallback((value: string) => onFind(value.trim() || undefined, false), WAIT_MS);
  const type = (value: string) => {
    setTyped(value);
    findSoon(value);
  };
  useCommands(commandsOf('Find', [['/', label, () => input.current?.select()]]));
  return (
    <TextInput
      ref={input}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      w={{ base: '100%', sm: 300 }}
      leftSection={<SearchIcon size={15} />}
      rightSection={
        typed !== '' && (
          <ActionIcon variant="subtle" color="gray" aria-label="Clear the search" onClick={() => type('')}>
            <CloseIcon size={14} />
          </ActionIcon>
        )
      }
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={(event) => {
        const { key, currentTarget } = event;
        if (key === 'Enter') {
          // What is typed next is another search.
          currentTarget.select();
          onFind(currentTarget.value.trim() || undefined, true);
        } else if (key === '/' && currentTarget.selectionStart === 0) {
          event.preventDefault();
        } else if (key === 'Escape') {
          type('');
          currentTarget.blur();
        }
      }}
    />
  );
}
