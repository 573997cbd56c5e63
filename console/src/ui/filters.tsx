import { Button, CloseButton, Flex, Group, Select, type SelectProps, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useHouse } from '../api/house.ts';
import { read } from '../api/reads.ts';
import { isOwner, useMe } from '../api/session.ts';
import { useCommands } from './commands.ts';
import { SearchIcon } from './icons.tsx';
import classes from './page.module.css';

const CHIP = { radius: 'xl', px: 12, fz: '0.8125rem' };
const PRESSED = { ...CHIP, variant: 'light' };
const QUIET = { ...CHIP, variant: 'default', c: 'dimmed', fw: 400 };

interface ChipsProps<Value> {
  label: string;
  options: readonly { value: Value; label: string }[];
  isPressed: (value: Value) => boolean;
  onPress: (value: Value) => void;
}

export function Chips<Value>({ label: group, options, isPressed, onPress }: ChipsProps<Value>) {
  return (
    <Group gap={6} role="group" aria-label={group}>
      {options.map(({ value, label }) => (
        <Button
          key={label}
          {...(isPressed(value) ? PRESSED : QUIET)}
          aria-pressed={isPressed(value)}
          onClick={() => onPress(value)}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}

interface ChoiceProps<Value extends string> extends Pick<ChipsProps<Value>, 'label' | 'options'> {
  /** Undefined: no filter. Null: no chip is pressed. */
  value: Value | undefined | null;
  onChange: (value: Value | undefined) => void;
  all?: string;
}

export function ChipChoice<Value extends string>({ label, options, value, onChange, all = 'All' }: ChoiceProps<Value>) {
  const every = [{ value: undefined, label: all }, ...options];
  return <Chips label={label} options={every} isPressed={(each) => each === value} onPress={onChange} />;
}

interface FoldedProps<Value extends string> extends ChoiceProps<Value> {
  /** Values of the other filters. */
  others: (string | undefined)[];
  children: ReactNode;
}

/** Chips and other filters. A phone shows the chips in one row, which scrolls, and the others at a press. */
export function FoldedFilters<Value extends string>({ others, children, ...chips }: FoldedProps<Value>) {
  const [isOpen, setOpen] = useState(false);
  const count = others.filter((value) => value !== undefined).length;
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const pressed = row.current?.querySelector('[aria-pressed="true"]');
    pressed?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chips.value]);
  return (
    <>
      <Group gap={12} wrap="nowrap" w={{ base: '100%', sm: 'auto' }}>
        <div className={classes.chips} ref={row}>
          <ChipChoice {...chips} />
        </div>
        <Button
          hiddenFrom="sm"
          flex="none"
          variant={count > 0 ? 'light' : 'default'}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Filters{count > 0 && ` (${count})`}
        </Button>
      </Group>
      <Flex className={classes.folded} display={{ base: isOpen ? 'contents' : 'none', sm: 'flex' }} gap={8}>
        {children}
      </Flex>
    </>
  );
}

interface TogglesProps<Value> extends Pick<ChipsProps<Value>, 'label' | 'options'> {
  values: Value[];
  onChange: (values: Value[]) => void;
}

export function ChipToggles<Value>({ label, options, values, onChange }: TogglesProps<Value>) {
  const isOn = (value: Value) => values.includes(value);
  const toggle = (value: Value) => onChange(isOn(value) ? values.filter((each) => each !== value) : [...values, value]);
  return <Chips label={label} options={options} isPressed={isOn} onPress={toggle} />;
}

interface SelectFilterProps<Value extends string> extends Omit<SelectProps<Value>, 'value' | 'onChange'> {
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
}

/** A filter with more values than chips have room for. */
export function FilterSelect<Value extends string>({ value, onChange, ...props }: SelectFilterProps<Value>) {
  return <Select<Value> clearable value={value ?? null} onChange={(next) => onChange(next ?? undefined)} {...props} />;
}

interface IdProps {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** Filter by property. `all`: words for none. With one property alone, it is not there. */
export function PropertySelect({ all, ...props }: IdProps & { all: string }) {
  const { properties = [] } = useHouse();
  const options = properties.map(({ id, name }) => ({ value: id, label: name }));
  return (
    options.length > 1 && <FilterSelect aria-label="Property" placeholder={all} w={190} data={options} {...props} />
  );
}

/** Filter by partner. Only owners may list the partners, so for others it is not there. */
export function PartnerSelect(props: IdProps) {
  const mayList = isOwner(useMe());
  const { data = [] } = useQuery(read('listStaffCredentials', mayList && {}, ['credentials']));
  const options = data.map(({ id, label }) => ({ value: id, label: label || 'No name' }));
  return (
    mayList && (
      <FilterSelect aria-label="Partner" placeholder="All partners" w={180} searchable data={options} {...props} />
    )
  );
}

/** A person types on, so the search waits this long. */
const WAIT_MS = 150;

interface FindProps {
  label: string;
  placeholder: string;
  text: string | undefined;
  /** `isEntered`: the person has pressed Enter, and wants the first result. */
  onFind: (text: string | undefined, isEntered: boolean) => void;
}

/** The search field of a screen, which `/` reaches. It finds while one types. */
export function FindField({ label, placeholder, text, onFind }: FindProps) {
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
  useCommands('Find', [['/', label, () => input.current?.select()]]);
  return (
    <TextInput
      ref={input}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      w={{ base: '100%', sm: 300 }}
      leftSection={<SearchIcon size={15} />}
      rightSection={
        typed !== '' && <CloseButton iconSize={14} aria-label="Clear the search" onClick={() => type('')} />
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
