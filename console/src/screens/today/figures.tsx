import { Text } from '@mantine/core';
import { Link, linkOptions, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/client.ts';
import { formatAge, plural, useFormat } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import type { OrdersSearch } from '../orders/search.ts';
import type { StaysSearch } from '../stays/search.ts';
import classes from './today.module.css';

type Orders = NonNullable<Answer<'getToday'>['orders']>;
type Hotel = NonNullable<Answer<'getToday'>['hotel']>;

const ordersOf = (filters: OrdersSearch) => linkOptions({ to: '/orders', search: { view: 'list', ...filters } });
const staysOf = (search: StaysSearch) => linkOptions({ to: '/stays', search });

/** The orders now, and what came in today. */
export function OrdersNow({ orders: { open, late, today }, now }: { orders: Orders; now: number }) {
  const { money } = useFormat();
  const of = (status: Orders['open'][number]['status']) => open.find((each) => each.status === status);
  const [fresh, confirmed, cooking] = [of('pending'), of('confirmed')?.count ?? 0, of('preparing')?.count ?? 0];
  const oldest = (at: string | null | undefined) => at && `oldest ${formatAge(now - Date.parse(at))}`;
  const ofToday = ordersOf({ from: today.date, to: today.date });
  return (
    <Figures title="Orders">
      <Figure
        label="New"
        value={fresh?.count ?? 0}
        note={oldest(fresh?.oldest_at)}
        link={ordersOf({ status: 'pending' })}
      />
      <Figure
        label="Cooking"
        value={cooking}
        note={confirmed > 0 && `${confirmed} confirmed`}
        link={ordersOf({ status: 'preparing' })}
      />
      <Figure
        label="Late"
        value={late.count}
        note={oldest(late.oldest_at)}
        isLate={late.count > 0}
        link={{ to: '/orders' }}
      />
      <Figure label="Today" value={money(today.total)} note={plural(today.count, 'order')} link={ofToday} />
    </Figures>
  );
}

/** Who comes, who goes, and who is here today. */
export function HotelNow({ hotel }: { hotel: Hotel }) {
  const { arrivals, arrived, departures, departed, in_house: inHouse } = hotel;
  const share = (done: number, all: number, word: string) => all > 0 && `${done === all ? 'all' : done} ${word}`;
  return (
    <Figures title="Hotel">
      <Figure label="Arrivals" value={arrivals} note={share(arrived, arrivals, 'arrived')} link={staysOf({})} />
      <Figure
        label="Departures"
        value={departures}
        note={share(departed, departures, 'left')}
        link={staysOf({ view: 'departures' })}
      />
      <Figure
        label="In house"
        value={inHouse}
        note={inHouse === 1 ? 'room' : 'rooms'}
        link={staysOf({ view: 'house' })}
      />
    </Figures>
  );
}

/** Numbers in a row. On a phone, four of them stand two by two. */
function Figures({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Section title={title}>
      <div className={`${classes.panel} ${classes.figures}`}>{children}</div>
    </Section>
  );
}

interface FigureProps {
  label: string;
  value: number | string;
  /** A further word on the figure, below it. */
  note: string | false | null | undefined;
  isLate?: boolean;
  /** The list that the figure counts. */
  link: LinkProps;
}

/** A number with its name, which leads to the list behind it. */
function Figure({ label, value, note, isLate = false, link }: FigureProps) {
  // A long value is smaller, so that it fits.
  const size = String(value).length > 10 ? 20 : 26;
  return (
    <Link {...link} className={classes.cell}>
      <Text fz={13} c="dimmed">
        {label}
      </Text>
      <Text fz={size} fw={650} lh="32px" c={isLate ? 'var(--rs-late)' : undefined}>
        {value}
      </Text>
      <Text fz={13} mih={20} truncate c={isLate ? 'var(--rs-late)' : 'dimmed'}>
        {note}
      </Text>
    </Link>
  );
}
