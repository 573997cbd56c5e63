import { Button, Group } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useCommands } from './commands.ts';
import { addDays, formatDate } from './format.ts';
import { BackIcon, ChevronIcon } from './icons.tsx';

interface Props {
  day: string;
  today: string;
  onChange: (day: string) => void;
}

/** The day of a view, with a step to the day before and after it. */
export function DayStep({ day, today, onChange }: Props) {
  const earlier = { label: 'A day earlier', run: () => onChange(addDays(day, -1)) };
  const later = { label: 'A day later', run: () => onChange(addDays(day, 1)) };
  useCommands([
    { id: 'earlier', group: 'Day', keys: 'e', ...earlier },
    { id: 'later', group: 'Day', keys: 'l', ...later },
    { id: 'today', group: 'Day', keys: 't', label: 'Today', run: () => onChange(today) },
  ]);
  return (
    <Group gap={4} wrap="nowrap" role="group" aria-label="Day">
      <Button variant="default" px={0} w={44} aria-label={earlier.label} onClick={earlier.run}>
        <BackIcon size={16} />
      </Button>
      <DatePickerInput
        aria-label={`Day: ${formatDate(day, 'weekday')}`}
        w={130}
        valueFormatter={() => formatDate(day, 'weekday')}
        value={day}
        onChange={(value) => value !== null && onChange(value)}
      />
      <Button variant="default" px={0} w={44} aria-label={later.label} onClick={later.run}>
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
