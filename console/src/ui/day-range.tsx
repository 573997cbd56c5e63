import { DatePickerInput } from '@mantine/dates';

interface Props {
  from: string | undefined;
  to: string | undefined;
  onChange: (range: { from: string | undefined; to: string | undefined }) => void;
}

/** Filter by days, both included. */
export function DayRange({ from, to, onChange }: Props) {
  return (
    <DatePickerInput
      type="range"
      placeholder="All days"
      allowSingleDateInRange
      clearable
      w={220}
      valueFormat="D MMM"
      value={[from ?? null, to ?? null]}
      onChange={([first, last]) => onChange({ from: first ?? undefined, to: last ?? undefined })}
    />
  );
}
