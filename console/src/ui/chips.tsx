import { Button, Group } from '@mantine/core';

const CHIP = { radius: 'xl', px: 12, fz: '0.8125rem' };
const PRESSED = { ...CHIP, variant: 'light' };
const QUIET = { ...CHIP, variant: 'default', c: 'dimmed', fw: 400 };

interface ChipsProps<Value> {
  label: string;
  options: readonly { value: Value; label: string }[];
  isPressed: (value: Value) => boolean;
  onPress: (value: Value) => void;
}

/** Buttons in a row, of which some are pressed. */
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

/** A filter with few values, as chips in a row. */
export function ChipChoice<Value extends string>({ label, options, value, onChange, all = 'All' }: ChoiceProps<Value>) {
  const every = [{ value: undefined, label: all }, ...options];
  return <Chips label={label} options={every} isPressed={(each) => each === value} onPress={onChange} />;
}

interface TogglesProps<Value> extends Pick<ChipsProps<Value>, 'label' | 'options'> {
  values: Value[];
  onChange: (values: Value[]) => void;
}

/** Several of a few values, as chips in a row. */
export function ChipToggles<Value>({ label, options, values, onChange }: TogglesProps<Value>) {
  const isOn = (value: Value) => values.includes(value);
  const toggle = (value: Value) => onChange(isOn(value) ? values.filter((each) => each !== value) : [...values, value]);
  return <Chips label={label} options={options} isPressed={isOn} onPress={toggle} />;
}
