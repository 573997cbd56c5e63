import { Button, Group } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { commandsOf, useCommands } from './commands.ts';
import { addDays, formatDate } from './format.ts';
import { BackIcon, ChevronIcon } from './icons.tsx';

interface Props {
  day: string;
  today: string;
  onChange: (day: string) => void;
}

/** The day of a view, with a step to the day before and after it. */
export function DayStep({ day, today, onChange }: Props) {
  const move = (days: number) => onChange(addDays(day, days));
  useCommands(
    commandsOf('Day', [
      ['e', 'A day earlier', () => move(-1)],
      ['l', 'A day later', () => move(1)],
      ['t', 'Today', () => onChange(today)],
    ]),
  );
  return (
    <Group gap={4} wrap="nowrap" role="group" aria-label="Day">
      <Button variant="default" px={0} w={44} aria-label="A day earlier" onClick={() => move(-1)}>
        <BackIcon size={16} />
      </Button>
      <DatePickerInput
        aria-label={`Day: ${formatDate(day, 'weekday')}`}
        w={130}
        valueFormatter={() => formatDate(day, 'weekday')}
        value={day}
        onChange={(value) => value !== null && onChange(value)}
      />
      <Button variant="default" px={0} w={44} aria-label="A day later" onClick={() => move(1)}>
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
