import { ActionIcon, Button } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { commandsOf, useCommands } from './commands.ts';
import classes from './day-step.module.css';
import { addDays, formatDate } from './format.ts';
import { BackIcon, ChevronIcon } from './icons.tsx';

interface Props {
  day: string;
  today: string;
  onChange: (day: string) => void;
}

/** The day of a view, with a step to the day before and after it. */
export function DayStep({ day, today, onChange }: Props) {
  useCommands(
    commandsOf('Day', [
      ['e', 'A day earlier', () => onChange(addDays(day, -1))],
      ['l', 'A day later', () => onChange(addDays(day, 1))],
      ['t', 'Today', () => onChange(today)],
    ]),
  );
  return (
    <div className={classes.step} role="group" aria-label="Day">
      <ActionIcon variant="default" size={36} aria-label="A day earlier" onClick={() => onChange(addDays(day, -1))}>
        <BackIcon size={16} />
      </ActionIcon>
      <DatePickerInput
        aria-label={`Day: ${formatDate(day, 'weekday')}`}
        w={130}
        valueFormatter={() => formatDate(day, 'weekday')}
        value={day}
        onChange={(value) => value !== null && onChange(value)}
      />
      <ActionIcon variant="default" size={36} aria-label="A day later" onClick={() => onChange(addDays(day, 1))}>
        <ChevronIcon size={16} />
      </ActionIcon>
      {day !== today && (
        <Button variant="subtle" onClick={() => onChange(today)}>
          Today
        </Button>
      )}
    </div>
  );
}
