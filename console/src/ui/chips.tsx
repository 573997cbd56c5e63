import { CloseIcon } from './icons.tsx';
import classes from './chips.module.css';

interface ChipsProps<Value> {
  label: string;
  options: readonly { value: Value; label: string }[];
  isPressed: (value: Value) => boolean;
  onPress: (value: Value) => void;
}

function Chips<Value>({ label: group, options, isPressed, onPress }: ChipsProps<Value>) {
  return (
    <div className={classes.group} role="group" aria-label={group}>
      {options.map(({ value, label }) => (
        <button
          key={label}
          type="button"
          className={classes.chip}
          aria-pressed={isPressed(value)}
          onClick={() => onPress(value)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  options: readonly { value: Value; label: string }[];
  /** Undefined: no filter. Null: no chip is pressed. */
  value: Value | undefined | null;
  onChange: (value: Value | undefined) => void;
  /** Word for no filter, for example `All`. */
  all?: string;
}

/** A filter with few values, as chips in a row. */
export function ChipChoice<Value extends string>({ label, options, value, onChange, all = 'All' }: ChoiceProps<Value>) {
  const every = [{ value: undefined, label: all }, ...options];
  return <Chips label={label} options={every} isPressed={(each) => each === value} onPress={onChange} />;
}

interface TogglesProps<Value> {
  label: string;
  options: readonly { value: Value; label: string }[];
  values: Value[];
  onChange: (values: Value[]) => void;
}

/** Several of a few values, as chips in a row. */
export function ChipToggles<Value>({ label, options, values, onChange }: TogglesProps<Value>) {
  const isOn = (value: Value) => values.includes(value);
  const toggle = (value: Value) => onChange(isOn(value) ? values.filter((each) => each !== value) : [...values, value]);
  return <Chips label={label} options={options} isPressed={isOn} onPress={toggle} />;
}

/** A filter that is set. A press takes it away. */
export function SetChip({ label, onRemove }: { label: string; onRemove: () => void }) {
  return (
    <button type="button" className={classes.chip} data-is-set aria-label={`Remove filter ${label}`} onClick={onRemove}>
      {label} <CloseIcon size={14} />
    </button>
  );
}
