import classes from './tick.module.css';

interface Props {
  label: string;
  isOn: boolean;
  /** Looks like a switch, for what works at once. */
  isSwitch?: boolean;
  onChange: () => void;
}

/** Checkbox or switch in a row of a table, light enough for hundreds of them. */
export function Tick({ label, isOn, isSwitch = false, onChange }: Props) {
  return (
    <label className={classes.target}>
      <input
        type="checkbox"
        role={isSwitch ? 'switch' : undefined}
        className={isSwitch ? classes.switch : classes.box}
        aria-label={label}
        checked={isOn}
        onChange={onChange}
      />
    </label>
  );
}
