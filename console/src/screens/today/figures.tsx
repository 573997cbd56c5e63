import { Flex, Text } from '@mantine/core';
import { Link, linkOptions, type LinkProps } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { formatAge, plural, useFormat } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import type { OrdersSearch } from '../orders/search.ts';
import type { StaysSearch } from '../stays/search.ts';
import classes from './today.module.css';

type Orders = NonNullable<Answer<'getToday'>['orders']>;
type Hotel = NonNullable<Answer<'getToday'>['hotel']>;

interface Figure {
  label: string;
  value: number | string;
  note: string | false | undefined;
  isLate?: boolean;
  /** The list that the figure counts. */
  link: LinkProps;
}

const ordersOf = (filters: OrdersSearch) => linkOptions({ to: '/orders', search: { view: 'list', ...filters } });
const staysOf = (search: StaysSearch) => linkOptions({ to: '/stays', search });

export function OrdersNow({ orders: { open, late, today }, now }: { orders: Orders; now: number }) {
  const { money } = useFormat();
  const of = (wanted: Orders['open'][number]['status']) => open.find(({ status }) => status === wanted);
  const confirmed = of('confirmed')?.count ?? 0;
  const oldest = (at: string | null = null) => at !== null && `oldest ${formatAge(now - Date.parse(at))}`;
  const figures: Figure[] = [
    {
      label: 'New',
      value: of('pending')?.count ?? 0,
      note: oldest(of('pending')?.oldest_at),
      link: ordersOf({ status: 'pending' }),
    },
    {
      label: 'Cooking',
      value: of('preparing')?.count ?? 0,
      note: confirmed > 0 && `${confirmed} confirmed`,
      link: ordersOf({ status: 'preparing' }),
    },
    { label: 'Late', value: late.count, note: oldest(late.oldest_at), isLate: late.count > 0, link: { to: '/orders' } },
    {
      label: 'Today',
      value: money(today.total),
      note: plural(today.count, 'order'),
      link: ordersOf({ from: today.date, to: today.date }),
    },
  ];
  return <Figures title="Orders" figures={figures} />;
}

export function HotelNow({ hotel }: { hotel: Hotel }) {
  const { arrivals, arrived, departures, departed, in_house: inHouse } = hotel;
  const share = (done: number, all: number, word: string) => all > 0 && `${done === all ? 'all' : done} ${word}`;
  const figures: Figure[] = [
    { label: 'Arrivals', value: arrivals, note: share(arrived, arrivals, 'arrived'), link: staysOf({}) },
    {
      label: 'Departures',
      value: departures,
      note: share(departed, departures, 'left'),
      link: staysOf({ view: 'departures' }),
    },
    { label: 'In house', value: inHouse, note: inHouse === 1 ? 'room' : 'rooms', link: staysOf({ view: 'house' }) },
  ];
  return <Figures title="Hotel" figures={figures} />;
}

function Figures({ title, figures }: { title: string; figures: Figure[] }) {
  return (
    <Section title={title}>
      <Flex wrap="wrap" className={classes.panel}>
        {figures.map(({ label, value, note, isLate = false, link }) => (
          <Link key={label} {...link} className={classes.figure}>
            <Text fz={13} c="dimmed">
              {label}
            </Text>
            <Text fz={String(value).length > 10 ? 20 : 26} fw={650} lh="32px" c={isLate ? 'var(--rs-late)' : undefined}>
              {value}
            </Text>
            <Text fz={13} mih={20} truncate c={isLate ? 'var(--rs-late)' : 'dimmed'}>
              {note}
            </Text>
          </Link>
        ))}
      </Flex>
    </Section>
  );
}
