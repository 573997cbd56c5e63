import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { changeAvailability, type Dish, isOn, menuQuery } from '../../ui/dishes.ts';
import { plural } from '../../ui/format.ts';
import classes from './all-day.module.css';
import { countDishes, type DishCount } from './all-day.ts';
import type { Order } from './statuses.ts';

/** Counts of all dishes of the open orders, and what is sold out. */
export function AllDay({ orders, mayChangeMenu }: { orders: readonly Order[]; mayChangeMenu: boolean }) {
  const counts = useMemo(() => countDishes(orders), [orders]);
  const { data: menu } = useQuery({ ...menuQuery, enabled: mayChangeMenu });
  const bySku = useMemo(() => new Map(menu?.dishes.map((dish) => [dish.sku, dish])), [menu]);
  const others = [...bySku.values()].filter((dish) => isSoldOut(dish) && !counts.some(({ sku }) => sku === dish.sku));
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
          <li key={dish.sku} className={classes.dish} data-sold-out={isSoldOut(bySku.get(dish.sku)) || undefined}>
            <span className={classes.count}>{dish.open}</span>
            <span className={classes.name}>
              {dish.name}
              <span className={classes.quiet}>{describe(dish)}</span>
            </span>
            <SoldOut dish={bySku.get(dish.sku)} />
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <>
          <h3 className={classes.title}>Sold out</h3>
          <ul className={classes.dishes}>
            {others.map((dish) => (
              <li key={dish.sku} className={classes.dish} data-sold-out="">
                <span className={classes.count} aria-hidden="true">
                  –
                </span>
                <span className={classes.name}>{dish.name}</span>
                <SoldOut dish={dish} />
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

function isSoldOut(dish: Dish | undefined): boolean {
  return dish !== undefined && !isOn(dish);
}

/** Takes the dish off the menu, or puts it back. The same button is the way back. */
function SoldOut({ dish }: { dish: Dish | undefined }) {
  const [isSending, setSending] = useState(false);
  if (dish === undefined) return null;
  const word = isSoldOut(dish) ? 'Put back' : 'Sold out';
  const change = async () => {
    setSending(true);
    await changeAvailability([dish], isSoldOut(dish));
    setSending(false);
  };
  return (
    <button
      type="button"
      className={classes.button}
      aria-label={`${word}: ${dish.name}`}
      aria-busy={isSending}
      disabled={isSending}
      onClick={() => void change()}
    >
      {word}
    </button>
  );
}
