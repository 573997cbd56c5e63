import { linkOptions } from '@tanstack/react-router';
import { formatAge, plural, useFormat } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import type { OrdersSearch } from '../orders/search.ts';
import { Figure, Figures } from './figure.tsx';
import type { TodayData } from './today-data.ts';

type Orders = NonNullable<TodayData['orders']>;
type Status = Orders['open'][number]['status'];

const listOf = (filters: OrdersSearch) => linkOptions({ to: '/orders', search: { view: 'list', ...filters } });

export function OrdersNow({ orders, now }: { orders: Orders; now: number }) {
  const { money } = useFormat();
  const { late, today } = orders;
  const of = (status: Status) => orders.open.find((each) => each.status === status);
  const count = (status: Status) => of(status)?.count ?? 0;
  const oldest = (at: string | null | undefined) => (at ? `oldest ${formatAge(now - Date.parse(at))}` : undefined);
  return (
    <Section title="Orders">
      <Figures>
        <Figure
          label="New"
          value={String(count('pending'))}
          note={oldest(of('pending')?.oldest_at)}
          link={listOf({ status: 'pending' })}
        />
        <Figure
          label="Cooking"
          value={String(count('preparing'))}
          note={count('confirmed') > 0 ? `${count('confirmed')} confirmed` : undefined}
          link={listOf({ status: 'preparing' })}
        />
        <Figure
          label="Late"
          value={String(late.count)}
          note={oldest(late.oldest_at)}
          isLate={late.count > 0}
          link={{ to: '/orders' }}
        />
        <Figure
          label="Today"
          value={money(today.total)}
          note={plural(today.count, 'order')}
          link={listOf({ from: today.date, to: today.date })}
        />
      </Figures>
    </Section>
  );
}
