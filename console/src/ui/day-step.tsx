import { Button, Group } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { commandsOf, useCommands } from './commands.ts';
import { addDays, formatDate } from './format.ts';
import { BackIcon, ChevronIcon } from './icons.tsx';

interface Props {
  day: string;
  today: string;
  by?: number;
  onChange: (day: string) => void;
}

/** The day of a view, or the first one, with a step back and forth. */
export function DayStep({ day, today, by = 1, onChange }: Props) {
  const move = (days: number) => onChange(addDays(day, days));
  useCommands(
    commandsOf('Day', [
      ['e', 'Earlier', () => move(-by)],
      ['l', 'Later', () => move(by)],
      ['t', 'Today', () => onChange(today)],
    ]),
  );
  return (
    <Group gap={4} wrap="nowrap" role="group" aria-label="Day">
      <Button variant="default" px={0} w={44} aria-label="Earlier" onClick={() => move(-by)}>
        <BackIcon size={16} />
      </Button>
      <DatePickerInput
        aria-label={`Day: ${formatDate(day, 'weekday')}`}
        w={130}
        valueFormatter={() => formatDate(day, 'weekday')}
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
