import { CloseIcon } from './icons.tsx';
import classes from './chips.module.css';

interface Option<Value extends string> {
  value: Value;
  label: string;
}

interface ChoiceProps<Value extends string> {
  label: string;
  options: readonly Option<Value>[];
  /** Undefined: no filter. Null: no chip is pressed. */
  value: Value | undefined | null;
  onChange: (value: Value | undefined) => void;
  /** Word for no filter, for example `All`. */
  all?: string;
}

/** A filter with few values, as chips in a row. */
export function ChipChoice<Value extends string>({ label, options, value, onChange, all = 'All' }: ChoiceProps<Value>) {
  const every = [{ value: undefined, label: all }, ...options];
  return (
    <div className={classes.group} role="group" aria-label={label}>
      {every.map((option) => (
        <button
          key={option.label}
          type="button"
          className={classes.chip}
          aria-pressed={value === option.value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

interface TogglesProps<Value> {
  label: string;
  options: readonly { value: Value; label: string }[];
  values: Value[];
  onChange: (values: Value[]) => void;
}

/** Several of a few values, as chips in a row. */
export function ChipToggles<Value>({ label, options, values, onChange }: TogglesProps<Value>) {
  const toggle = (value: Value) =>
    onChange(values.includes(value) ? values.filter((each) => each !== value) : [...values, value]);
  return (
    <div className={classes.group} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.label}
          type="button"
          className={classes.chip}
          aria-pressed={values.includes(option.value)}
          onClick={() => toggle(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

/** A filter that is set, with a button that takes it away. */
export function SetChip({ label, onRemove }: { label: string; onRemove: () => void }) {
  return (
    <span className={classes.set}>
      {label}
      <button type="button" className={classes.remove} aria-label={`Remove filter ${label}`} onClick={onRemove}>
        <CloseIcon size={14} />
      </button>
    </span>
  );
}
