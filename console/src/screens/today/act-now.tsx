import { Group, NavLink, Text } from '@mantine/core';
import { Link, linkOptions, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/client.ts';
import { formatAge, formatDate, type Formats, plural, useFormat } from '../../ui/format.ts';
import { AlertIcon, CheckIcon, ChevronIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import { outcomeOf } from '../deliveries/status.tsx';
import classes from './today.module.css';

type Receiver = NonNullable<Answer<'getToday'>['receivers']>[number];
type Night = NonNullable<Answer<'getToday'>['oversold']>[number];

interface Props {
  receivers: Receiver[];
  oversold: Night[];
  /** Time of the last read, by this device's clock. */
  readAt: number;
  now: number;
}

/** What cannot wait, worst first. If there is nothing, one quiet line says when that was checked. */
export function ActNow({ receivers, oversold, readAt, now }: Props) {
  const { moment } = useFormat();
  if (receivers.length === 0 && oversold.length === 0) {
    return (
      <Group gap={8} fz="sm" c="dimmed">
        <Text span c="var(--rs-good)" lh={0}>
          <CheckIcon size={16} />
        </Text>
        All quiet, checked {formatAge(Date.now() - readAt)} ago
      </Group>
    );
  }
  return (
    <Section title="Act now">
      <ul className={classes.panel}>
        {[...Map.groupBy(oversold, ({ room_type_id: id }) => id).values()].map(oversoldAlarm)}
        {receivers.map((each) => receiverAlarm(each, now, moment))}
      </ul>
    </Section>
  );
}

interface AlarmProps {
  title: string;
  link: LinkProps;
  children: ReactNode;
}

function Alarm({ title, link, children }: AlarmProps) {
  return (
    <li>
      <NavLink
        renderRoot={(props) => <Link {...link} {...props} />}
        p="12px 14px"
        label={<b>{title}</b>}
        description={children}
        leftSection={<AlertIcon />}
        rightSection={<ChevronIcon size={16} />}
        styles={{ description: { fontSize: '0.875rem' }, section: { color: 'var(--rs-late)' } }}
      />
    </li>
  );
}

function receiverAlarm(receiver: Receiver, now: number, moment: Formats['moment']) {
  const { credential_id: partner, label, since, waiting } = receiver;
  const link = linkOptions({ to: '/deliveries', search: { partner, status: waiting > 0 ? 'pending' : 'failed' } });
  return (
    <Alarm key={partner} title={`Webhooks to ${label || 'a partner without a name'} fail`} link={link}>
      Since {moment(since, now)} ({formatAge(now - Date.parse(since))}).{' '}
      {waiting > 0 ? plural(waiting, 'delivery waits', 'deliveries wait') : 'Nothing waits any more'}. Last attempt:{' '}
      {outcomeOf(receiver)}.
    </Alarm>
  );
}

/** Nights of one room type that are named. */
const MOST_NIGHTS = 3;

function oversoldAlarm(nights: Night[]) {
  const [{ room_type_id: id, room_type: name, date: from }] = nights as [Night, ...Night[]];
  const shown = nights
    .slice(0, MOST_NIGHTS)
    .map(({ date, held, capacity }) => `${formatDate(date, 'weekday')} (${held} of ${capacity})`);
  const link = linkOptions({ to: '/calendar', search: { from, night: `${id}.${from}` } });
  return (
    <Alarm key={id} title={`${name} is oversold on ${plural(nights.length, 'night')}`} link={link}>
      {shown.join(', ')}
      {nights.length > MOST_NIGHTS && ` and ${nights.length - MOST_NIGHTS} more`}. Give the room type more rooms, or
      move guests.
    </Alarm>
  );
}
