import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { sendWhenBack } from '../../live/held-write.ts';
import { plural } from '../../ui/format.ts';
import classes from './all-day.module.css';
import { countDishes, type DishCount } from './all-day.ts';
import type { Order } from './statuses.ts';

const menuQuery = read('getMenuDocument', {}, ['menu']);

/** Counts of all dishes of the open orders, and what is sold out. */
export function AllDay({ orders, mayChangeMenu }: { orders: readonly Order[]; mayChangeMenu: boolean }) {
  const counts = useMemo(() => countDishes(orders), [orders]);
  const { data: menu } = useQuery({ ...menuQuery, enabled: mayChangeMenu });
  const soldOut = useMemo(
    () =>
      new Map(menu?.dishes.filter(({ is_active: isActive }) => isActive === false).map(({ sku, name }) => [sku, name])),
    [menu],
  );
  const known = new Set(menu?.dishes.map(({ sku }) => sku));
  const others = [...soldOut].filter(([sku]) => !counts.some((each) => each.sku === sku));
  return (
    <aside className={classes.panel} aria-label="All day">
      <header className={classes.head}>
        <h2 className={classes.title}>All day</h2>
        <span className={classes.quiet}>
          {plural(
            counts.reduce((sum, { toCook }) => sum + toCook, 0),
            'piece',
          )}{' '}
          to cook
        </span>
      </header>
      <ul className={classes.dishes}>
        {counts.map((dish) => (
          <li key={dish.sku} className={classes.dish} data-sold-out={soldOut.has(dish.sku) || undefined}>
            <span className={classes.count}>{dish.open}</span>
            <span className={classes.name}>
              {dish.name}
              <span className={classes.quiet}>{describe(dish)}</span>
            </span>
            {known.has(dish.sku) && <SoldOut sku={dish.sku} name={dish.name} isSoldOut={soldOut.has(dish.sku)} />}
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <>
          <h3 className={classes.title}>Sold out</h3>
          <ul className={classes.dishes}>
            {others.map(([sku, name]) => (
              <li key={sku} className={classes.dish} data-sold-out="">
                <span className={classes.count} aria-hidden="true">
                  –
                </span>
                <span className={classes.name}>{name}</span>
                <SoldOut sku={sku} name={name} isSoldOut />
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  );
}

function describe({ variants, toCook, open }: DishCount): string {
  const parts = variants.map(([name, count]) => `${count} ${name}`);
  if (toCook < open) parts.push(toCook === 0 ? 'all cooked' : `${toCook} to cook`);
  return parts.join(' · ');
}

/** Takes the dish off the menu, or puts it back. The same button is the way back. */
function SoldOut({ sku, name, isSoldOut }: { sku: string; name: string; isSoldOut: boolean }) {
  const [isSending, setSending] = useState(false);
  const change = async () => {
    setSending(true);
    await setAvailability(sku, name, isSoldOut);
    setSending(false);
  };
  return (
    <button
      type="button"
      className={classes.button}
      aria-label={`${isSoldOut ? 'Put back' : 'Sold out'}: ${name}`}
      aria-busy={isSending}
      disabled={isSending}
      onClick={() => void change()}
    >
      {isSoldOut ? 'Put back' : 'Sold out'}
    </button>
  );
}

async function setAvailability(sku: string, name: string, isActive: boolean): Promise<void> {
  try {
    await sendWhenBack(() => call('changeAvailability', { body: { skus: [sku], is_active: isActive } }));
    await queryClient.invalidateQueries({ queryKey: menuQuery.queryKey });
    const message = isActive
      ? 'Partners can order it again.'
      : 'New orders with it are refused. Orders on the board stay.';
    notifications.show({ title: isActive ? `${name} is back` : `${name} is sold out`, message, autoClose: 4_000 });
  } catch (error) {
    notifications.show({ title: `${name} was not changed`, message: (error as Error).message, color: 'red' });
  }
}
