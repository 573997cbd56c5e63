import type { Answer } from '../../api/client.ts';
import { formatDate } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import classes from './today.module.css';

type Night = NonNullable<Answer<'getToday'>['hotel']>['nights'][number];

const weekday = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', weekday: 'short' });

/** Rooms held of capacity on each of the next 14 nights, as bars. */
export function Nights({ nights }: { nights: Night[] }) {
  const held = nights.reduce((sum, night) => sum + night.held, 0);
  const all = nights.reduce((sum, night) => sum + night.capacity, 0);
  const share = all > 0 && `${Math.round((held / all) * 100)}% of ${nights[0]?.capacity} rooms held`;
  return (
    <Section title="Next 14 nights" aside={<p className="quiet">{share}</p>}>
      <ol className={`${classes.panel} ${classes.nights}`}>
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
  return (
    <li
      className={classes.night}
      data-over={held > capacity || undefined}
      data-weekend={[5, 6].includes(day.getUTCDay()) || undefined}
      title={`${formatDate(date, 'weekday')}: ${held} of ${capacity} rooms`}
    >
      <b>{held}</b>
      <span className={classes.track} aria-hidden="true">
        <span className={classes.bar} style={{ height: `${share * 100}%` }} />
      </span>
      <span className="visually-hidden">of {capacity} rooms,</span>
      <span>{weekday.format(day)}</span>
      <span>{day.getUTCDate()}</span>
    </li>
  );
}
