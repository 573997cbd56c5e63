import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { changeAvailability, type Dish, isOn, menuQuery } from '../../ui/dishes.ts';
import { plural } from '../../ui/format.ts';
import classes from './all-day.module.css';
import { isOpen, type Order } from './statuses.ts';

interface DishCount {
  sku: string;
  name: string;
  /** Pieces in all open orders. */
  open: number;
  /** Pieces of them that are not ready yet. */
  toCook: number;
  /** Pieces by variant, if the dish has some. */
  variants: Map<string, number>;
}

/** Counts each dish over the open orders, the most frequent one first. */
function countDishes(orders: readonly Order[]): DishCount[] {
  const dishes = new Map<string, DishCount>();
  for (const { status, lines } of orders) {
    if (!isOpen(status)) continue;
    const isCooked = status === 'ready' || status === 'out_for_delivery';
    for (const { sku, name, variant, quantity } of lines) {
      const dish = dishes.get(sku) ?? { sku, name, open: 0, toCook: 0, variants: new Map<string, number>() };
      dishes.set(sku, dish);
      dish.open += quantity;
      if (!isCooked) dish.toCook += quantity;
      if (variant !== null) dish.variants.set(variant, (dish.variants.get(variant) ?? 0) + quantity);
    }
  }
  return [...dishes.values()].sort(
    (one, other) => other.open - one.open || other.toCook - one.toCook || one.name.localeCompare(other.name),
  );
}

/** Counts of all dishes of the open orders, and below them what else is sold out. */
export function AllDay({ orders, mayChangeMenu }: { orders: readonly Order[]; mayChangeMenu: boolean }) {
  const counts = useMemo(() => countDishes(orders), [orders]);
  const { data: menu } = useQuery({ ...menuQuery, enabled: mayChangeMenu });
  const dishOf = new Map(menu?.dishes.map((dish) => [dish.sku, dish]));
  const others = [...dishOf.values()]
    .filter((dish) => !isOn(dish) && !counts.some(({ sku }) => sku === dish.sku))
    .map(({ sku, name }): DishCount => ({ sku, name, open: 0, toCook: 0, variants: new Map() }));
  const toCook = counts.reduce((sum, dish) => sum + dish.toCook, 0);
  return (
    <aside className={classes.panel} aria-label="All day">
      <h2 className={classes.title}>
        All day <span className={classes.more}>{plural(toCook, 'piece')} to cook</span>
      </h2>
      <ul className={classes.dishes}>
        {[...counts, ...others].map((count) => {
          const dish = dishOf.get(count.sku);
          return (
            <li key={count.sku} data-sold-out={(dish && !isOn(dish)) || undefined}>
              <b className={classes.count}>{count.open || '–'}</b>
              <span className={classes.name}>
                {count.name}
                <span className={classes.more}>{describe(count)}</span>
              </span>
              {dish && <SoldOut dish={dish} />}
            </li>
          );
        })}
      </ul>
    </aside>
  );
}

function describe({ variants, toCook, open }: DishCount): string {
  const parts = [...variants].map(([name, count]) => `${count} ${name}`);
  if (toCook < open) parts.push(toCook === 0 ? 'all cooked' : `${toCook} to cook`);
  return parts.join(' · ');
}

/** Takes the dish off the menu, or puts it back. The same button is the way back. */
function SoldOut({ dish }: { dish: Dish }) {
  const { mutate, isPending } = useMutation({ mutationFn: () => changeAvailability([dish], !isOn(dish)) });
  const words = isOn(dish) ? 'Sold out' : 'Put back';
  return (
    <Button
      variant={isOn(dish) ? 'default' : 'light'}
      h="max(2.3em, 44px)"
      px="0.7em"
      fz="0.86em"
      aria-label={`${words}: ${dish.name}`}
      disabled={isPending}
      onClick={() => mutate()}
    >
      {words}
    </Button>
  );
}
