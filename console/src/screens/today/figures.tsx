import { Text } from '@mantine/core';
import { Link, linkOptions, type LinkProps } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { formatAge, plural, useFormat } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import type { OrdersSearch } from '../orders/search.ts';
import classes from './today.module.css';

type Orders = NonNullable<Answer<'getToday'>['orders']>;
type Hotel = NonNullable<Answer<'getToday'>['hotel']>;

interface Figure {
  label: string;
  value: string;
  /** A further word on the figure, below it. */
  note?: string | false | null | undefined;
  isLate?: boolean;
  /** The list that the figure counts. */
  link: LinkProps;
}

const ordersOf = (filters: OrdersSearch) => linkOptions({ to: '/orders', search: { view: 'list', ...filters } });

/** The orders now, and what came in today. */
export function OrdersNow({ orders, now }: { orders: Orders; now: number }) {
  const { money } = useFormat();
  const { late, today } = orders;
  const of = (status: Orders['open'][number]['status']) => orders.open.find((each) => each.status === status);
  const count = (status: 'pending' | 'confirmed' | 'preparing') => of(status)?.count ?? 0;
  const oldest = (at: string | null | undefined) => at && `oldest ${formatAge(now - Date.parse(at))}`;
  return (
    <Figures
      title="Orders"
      figures={[
        {
          label: 'New',
          value: String(count('pending')),
          note: oldest(of('pending')?.oldest_at),
          link: ordersOf({ status: 'pending' }),
        },
        {
          label: 'Cooking',
          value: String(count('preparing')),
          note: count('confirmed') > 0 && `${count('confirmed')} confirmed`,
          link: ordersOf({ status: 'preparing' }),
        },
        {
          label: 'Late',
          value: String(late.count),
          note: oldest(late.oldest_at),
          isLate: late.count > 0,
          link: { to: '/orders' },
        },
        {
          label: 'Today',
          value: money(today.total),
          note: plural(today.count, 'order'),
          link: ordersOf({ from: today.date, to: today.date }),
        },
      ]}
    />
  );
}

/** Who comes, who goes, and who is here today. */
export function HotelNow({ hotel }: { hotel: Hotel }) {
  const { arrivals, arrived, departures, departed, in_house: inHouse } = hotel;
  const share = (done: number, all: number, word: string) =>
    all > 0 && (done === all ? `all ${word}` : `${done} ${word}`);
  return (
    <Figures
      title="Hotel"
      figures={[
        {
          label: 'Arrivals',
          value: String(arrivals),
          note: share(arrived, arrivals, 'arrived'),
          link: { to: '/stays' },
        },
        {
          label: 'Departures',
          value: String(departures),
          note: share(departed, departures, 'left'),
          link: linkOptions({ to: '/stays', search: { view: 'departures' } }),
        },
        {
          label: 'In house',
          value: String(inHouse),
          note: inHouse === 1 ? 'room' : 'rooms',
          link: linkOptions({ to: '/stays', search: { view: 'house' } }),
        },
      ]}
    />
  );
}

/** Numbers in a row, each a link to the list behind it. On a phone, four of them stand two by two. */
function Figures({ title, figures }: { title: string; figures: Figure[] }) {
  return (
    <Section title={title}>
      <div className={`${classes.panel} ${classes.figures}`}>
        {figures.map(({ label, value, note, isLate = false, link }) => (
          <Link key={label} {...link} className={classes.cell}>
            <Text fz={13} c="dimmed">
              {label}
            </Text>
            {/* A long value is smaller, so that it fits. */}
            <Text fz={value.length > 10 ? 20 : 26} fw={650} lh="32px" c={isLate ? 'var(--rs-late)' : undefined}>
              {value}
            </Text>
            <Text fz={13} mih={20} truncate c={isLate ? 'var(--rs-late)' : 'dimmed'}>
              {note}
            </Text>
          </Link>
        ))}
      </div>
    </Section>
  );
}
