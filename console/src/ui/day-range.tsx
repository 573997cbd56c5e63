import { DatePickerInput } from '@mantine/dates';
import { formatDate } from './format.ts';

interface Props {
  /** Left out: what it filters is plain. */
  label?: string;
  from: string | undefined;
  to: string | undefined;
  onChange: (range: { from: string | undefined; to: string | undefined }) => void;
}

/** Filter by days, both included. */
export function DayRange({ label, from, to, onChange }: Props) {
  return (
    <DatePickerInput
      type="range"
      label={label}
      placeholder="All days"
      allowSingleDateInRange
      clearable
      miw={220}
      valueFormatter={() => [...new Set([from, to])].map((day) => day && formatDate(day)).join(' – ')}
      value={[from ?? null, to ?? null]}
      onChange={([first, last]) => onChange({ from: first ?? undefined, to: last ?? undefined })}
    />
  );
}
