import { Button, Group } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useCommands } from './commands.ts';
import { addDays, formatDate } from './format.ts';
import { BackIcon, ChevronIcon } from './icons.tsx';

/** A day of another year says which. */
function nameOf(day: string, form: 'short' | 'weekday'): string {
  return formatDate(day, day.startsWith(`${new Date().getFullYear()}-`) ? form : 'year');
}

interface RangeProps {
  /** Left out: what it filters is plain. */
  label?: string;
  from: string | undefined;
  to: string | undefined;
  onChange: (range: { from: string | undefined; to: string | undefined }) => void;
}

/** Filter by days, both included. */
export function DayRange({ label, from, to, onChange }: RangeProps) {
  return (
    <DatePickerInput
      type="range"
      label={label}
      placeholder="All days"
      allowSingleDateInRange
      clearable={label === undefined}
      miw={220}
      valueFormatter={() => [...new Set([from, to])].map((day) => day && nameOf(day, 'short')).join(' – ')}
      value={[from ?? null, to ?? null]}
      onChange={([first, last]) => onChange({ from: first ?? undefined, to: last ?? undefined })}
    />
  );
}

interface StepProps {
  day: string;
  today: string;
  by?: number;
  onChange: (day: string) => void;
}

/** The day of a view, or the first one, with a step back and forth. */
export function DayStep({ day, today, by = 1, onChange }: StepProps) {
  const move = (days: number) => onChange(addDays(day, days));
  useCommands('Day', [
    ['e', 'Earlier', () => move(-by)],
    ['l', 'Later', () => move(by)],
    ['t', 'Today', () => onChange(today)],
  ]);
  return (
    <Group gap={4} wrap="nowrap" role="group" aria-label="Day">
      <Button variant="default" px={0} w={44} aria-label="Earlier" onClick={() => move(-by)}>
        <BackIcon size={16} />
      </Button>
      <DatePickerInput
        aria-label={`Day: ${nameOf(day, 'weekday')}`}
        w={130}
        valueFormatter={() => nameOf(day, 'weekday')}
        value={day}
        onChange={(value) => value !== null && onChange(value)}
      />
      <Button variant="default" px={0} w={44} aria-label="Later" onClick={() => move(by)}>
        <ChevronIcon size={16} />
      </Button>
      {day !== today && (
        <Button variant="subtle" onClick={() => onChange(today)}>
          Today
        </Button>
      )}
    </Group>
  );
}
