import { Input } from '@mantine/core';
import { type FocusEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { focusInRow } from '../../ui/table.tsx';
import classes from './row-controls.module.css';

interface AmountProps {
  label: string;
  value: string;
  /** Resolves to false if nothing is changed. The field then shows the old one again. */
  onChange: (typed: string) => Promise<boolean>;
}

const RIGHT = { input: { textAlign: 'right', fontSize: 'inherit', paddingInline: 8 } } as const;

/** An amount in a row of a table, changed in place: type, Enter. Esc leaves it as it is. */
export function AmountField({ label, value, onChange }: AmountProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current && field.current !== document.activeElement) field.current.value = value;
  }, [value]);
  const leave = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    if (event.key === 'Escape') event.currentTarget.value = value;
    // Else Enter would press the button that has the focus now.
    event.preventDefault();
    focusInRow('button');
  };
  // The keyboard of a phone may have no Enter, only a key that takes the focus away.
  const save = async ({ currentTarget: input }: FocusEvent<HTMLInputElement>) => {
    const isInOtherWindow = document.activeElement === input;
    if (isInOtherWindow) return;
    const typed = input.value.trim();
    const isSame = typed === '' || typed === value;
    if (isSame || !(await onChange(typed))) input.value = value;
  };
  return (
    <Input
      ref={field}
      size="xs"
      w={72}
      ml="auto"
      mr={-9}
      styles={RIGHT}
      aria-label={label}
      inputMode="decimal"
      autoComplete="off"
      defaultValue={value}
      onFocus={(event) => event.currentTarget.select()}
      onKeyDown={leave}
      onBlur={(event) => void save(event)}
    />
  );
}

interface SwitchProps {
  label: string;
  isOn: boolean;
  onChange: () => void;
}

/** A switch that works at once, light enough for hundreds of rows. */
export function Switch({ label, isOn, onChange }: SwitchProps) {
  return (
    <label className={classes.target}>
      <input
        type="checkbox"
        role="switch"
        className={classes.switch}
        aria-label={label}
        checked={isOn}
        onChange={onChange}
      />
    </label>
  );
}
