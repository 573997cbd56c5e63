import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatAge, formatDate, plural, useFormat } from '../../ui/format.ts';
import { AlertIcon, CheckIcon, ChevronIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import { outcomeOf } from '../deliveries/words.ts';
import classes from './act-now.module.css';
import type { TodayData } from './today-data.ts';

type Receiver = NonNullable<TodayData['receivers']>[number];
type Night = NonNullable<TodayData['oversold']>[number];

interface Props {
  receivers: Receiver[];
  oversold: Night[];
  /** Time of the last read, by this device's clock. */
  readAt: number;
  now: number;
}

/** What cannot wait, worst first. If there is nothing, one quiet line says when that was checked. */
export function ActNow({ receivers, oversold, readAt, now }: Props) {
  const roomTypes = Map.groupBy(oversold, ({ room_type_id: id }) => id);
  if (receivers.length === 0 && oversold.length === 0) {
    return (
      <p className={classes.quiet}>
        <CheckIcon size={16} />
        All quiet, checked {formatAge(Date.now() - readAt)} ago
      </p>
    );
  }
  return (
    <Section title="Act now">
      <ul className={classes.list}>
        {[...roomTypes].map(([id, nights]) => (
          <li key={id}>
            <OversoldRow nights={nights} />
          </li>
        ))}
        {receivers.map((receiver) => (
          <li key={receiver.credential_id}>
            <ReceiverRow receiver={receiver} now={now} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function ReceiverRow({ receiver, now }: { receiver: Receiver; now: number }) {
  const { moment } = useFormat();
  const { credential_id: partner, label, since, waiting } = receiver;
  return (
    <Link to="/deliveries" search={{ partner, status: waiting > 0 ? 'pending' : 'failed' }} className={classes.row}>
      <Row title={`Webhooks to ${label || 'a partner without a name'} fail`}>
        Since {moment(since, now)} ({formatAge(now - Date.parse(since))}).{' '}
        {waiting > 0 ? `${plural(waiting, 'delivery waits', 'deliveries wait')}. ` : 'Nothing waits any more. '}
        Last attempt: {outcomeOf(receiver)}.
      </Row>
      <ChevronIcon size={16} />
    </Link>
  );
}

const SHOWN_NIGHTS = 3;

function OversoldRow({ nights }: { nights: Night[] }) {
  const dates = nights
    .slice(0, SHOWN_NIGHTS)
    .map(({ date, held, capacity }) => `${formatDate(date, 'weekday')} (${held} of ${capacity})`);
  const rest = nights.length - SHOWN_NIGHTS;
  const first = nights[0];
  return (
    <Link
      to="/calendar"
      search={first && { from: first.date, night: `${first.room_type_id}.${first.date}` }}
      className={classes.row}
    >
      <Row title={`${first?.room_type} is oversold on ${plural(nights.length, 'night')}`}>
        {dates.join(', ')}
        {rest > 0 ? ` and ${rest} more` : ''}. Give the room type more rooms, or move guests.
      </Row>
      <ChevronIcon size={16} />
    </Link>
  );
}

function Row({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <span className={classes.icon}>
        <AlertIcon />
      </span>
      <span className={classes.text}>
        <span className={classes.title}>{title}</span>
        <span className={classes.more}>{children}</span>
      </span>
    </>
  );
}
