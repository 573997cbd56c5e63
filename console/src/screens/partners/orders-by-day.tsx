import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/reads.ts';
import { serverNow } from '../../live/clock.ts';
import { addDays, formatDate, plural, useFormat } from '../../ui/format.ts';
import classes from './health-bars.module.css';

const DAYS = 14;

/** Orders of a partner by day, as bars, with what they came to. */
export function OrdersByDay({ id }: { id: string }) {
  const { dayOf, money } = useFormat();
  const to = addDays(dayOf(serverNow()), 1);
  const { data } = useQuery(read('reportDays', { query: { from: addDays(to, -DAYS), to } }, ['orders']));
  if (!Array.isArray(data)) return null;
  const days = data.map(({ date, by_credential: partners }) => {
    const { orders, total } = partners.find((each) => each.id === id) ?? { orders: 0, total: '0' };
    return { date, orders, total };
  });
  const most = Math.max(1, ...days.map(({ orders }) => orders));
  const count = days.reduce((sum, { orders }) => sum + orders, 0);
  const cents = days.reduce((sum, { total }) => sum + Math.round(Number(total) * 100), 0);
  return (
    <figure className={classes.figure}>
      <div className={classes.bars} aria-hidden="true">
        {days.map(({ date, orders, total }) => (
          <div
            key={date}
            className={classes.hour}
            title={`${formatDate(date, 'weekday')}: ${plural(orders, 'order')}, ${money(total)}`}
          >
            <div className={classes.orders} style={{ height: `${(orders / most) * 100}%` }} />
          </div>
        ))}
      </div>
      <figcaption className={classes.caption}>
        {plural(count, 'order')} for {money((cents / 100).toFixed(2))}.
      </figcaption>
    </figure>
  );
}
