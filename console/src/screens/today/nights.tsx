import { formatDate } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import classes from './nights.module.css';
import type { TodayData } from './today-data.ts';

type Night = NonNullable<TodayData['hotel']>['nights'][number];

const weekday = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', weekday: 'short' });

/** Rooms held of capacity on each of the next 14 nights, as bars. */
export function Nights({ nights }: { nights: Night[] }) {
  const held = nights.reduce((sum, night) => sum + night.held, 0);
  const all = nights.reduce((sum, night) => sum + night.capacity, 0);
  return (
    <Section
      title="Next 14 nights"
      aside={
        all > 0 && (
          <span className={classes.average}>
            {Math.round((held / all) * 100)} % of {nights[0]?.capacity} rooms held
          </span>
        )
      }
    >
      <ol className={classes.nights}>
        {nights.map((night) => (
          <Bar key={night.date} {...night} />
        ))}
      </ol>
    </Section>
  );
}

function Bar({ date, held, capacity }: Night) {
  const day = new Date(`${date}T00:00:00Z`);
  const share = capacity === 0 ? 0 : Math.min(1, held / capacity);
  const isWeekend = [5, 6].includes(day.getUTCDay());
  return (
    <li
      className={classes.night}
      data-over={held > capacity || undefined}
      data-weekend={isWeekend || undefined}
      title={`${formatDate(date, 'weekday')}: ${held} of ${capacity} rooms`}
    >
      <span className={classes.held}>{held}</span>
      <span className={classes.track} aria-hidden="true">
        <span className={classes.bar} style={{ height: `${share * 100}%` }} />
      </span>
      <span className="visually-hidden">of {capacity} rooms,</span>
      <span className={classes.weekday}>{weekday.format(day).slice(0, 2)}</span>
      <span className={classes.day}>{day.getUTCDate()}</span>
    </li>
  );
}
