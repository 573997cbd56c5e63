import { Group, NavLink, Text } from '@mantine/core';
import { Link, linkOptions, type LinkProps } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { formatAge, formatDate, plural, useFormat } from '../../ui/format.ts';
import { AlertIcon, CheckIcon, ChevronIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import { outcomeOf } from '../deliveries/words.ts';
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
  const oversoldTypes = [...Map.groupBy(oversold, ({ room_type_id: id }) => id).values()];
  return (
    <Section title="Act now">
      <ul className={`${classes.panel} ${classes.alarms}`}>
        {[...oversoldTypes.map(oversoldAlarm), ...receivers.map((each) => receiverAlarm(each, now, moment))].map(
          ({ title, text, link }) => (
            <li key={title}>
              <NavLink
                renderRoot={(props) => <Link {...link} {...props} />}
                p="12px 14px"
                c="var(--rs-text)"
                label={<b>{title}</b>}
                description={text}
                leftSection={<AlertIcon />}
                rightSection={<ChevronIcon size={16} />}
                styles={{ description: { fontSize: '0.875rem' }, section: { color: 'var(--rs-late)' } }}
              />
            </li>
          ),
        )}
      </ul>
    </Section>
  );
}

interface Alarm {
  title: string;
  text: string;
  link: LinkProps;
}

function receiverAlarm(receiver: Receiver, now: number, moment: (time: string, now: number) => string): Alarm {
  const { credential_id: partner, label, since, waiting } = receiver;
  const rest = waiting > 0 ? plural(waiting, 'delivery waits', 'deliveries wait') : 'Nothing waits any more';
  const age = formatAge(now - Date.parse(since));
  return {
    title: `Webhooks to ${label || 'a partner without a name'} fail`,
    text: `Since ${moment(since, now)} (${age}). ${rest}. Last attempt: ${outcomeOf(receiver)}.`,
    link: linkOptions({ to: '/deliveries', search: { partner, status: waiting > 0 ? 'pending' : 'failed' } }),
  };
}

const SHOWN_NIGHTS = 3;

function oversoldAlarm(nights: Night[]): Alarm {
  const [first] = nights as [Night, ...Night[]];
  const shown = nights
    .slice(0, SHOWN_NIGHTS)
    .map(({ date, held, capacity }) => `${formatDate(date, 'weekday')} (${held} of ${capacity})`);
  const rest = nights.length > SHOWN_NIGHTS ? ` and ${nights.length - SHOWN_NIGHTS} more` : '';
  return {
    title: `${first.room_type} is oversold on ${plural(nights.length, 'night')}`,
    text: `${shown.join(', ')}${rest}. Give the room type more rooms, or move guests.`,
    link: linkOptions({
      to: '/calendar',
      search: { from: first.date, night: `${first.room_type_id}.${first.date}` },
    }),
  };
}
