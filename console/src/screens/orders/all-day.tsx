import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { areasOf, useMe } from '../../api/session.ts';
import { changeAvailability, type Dish, isOn, menuQuery } from '../../ui/dishes.ts';
import { plural } from '../../ui/format.ts';
import classes from './board.module.css';
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

const none = ({ sku, name }: Pick<DishCount, 'sku' | 'name'>): DishCount => ({
  sku,
  name,
  open: 0,
  toCook: 0,
  variants: new Map(),
});

/** Counts each dish over the open orders, the most frequent one first. */
function countDishes(orders: readonly Order[]): DishCount[] {
  const dishes = new Map<string, DishCount>();
  for (const { status, lines } of orders) {
    if (!isOpen(status)) continue;
    const isCooked = status === 'ready' || status === 'out_for_delivery';
    for (const line of lines) {
      const { sku, variant, quantity } = line;
      const dish = dishes.get(sku) ?? none(line);
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
export function AllDay({ orders }: { orders: readonly Order[] }) {
  const mayChangeMenu = areasOf(useMe()).includes('menu');
  const counts = useMemo(() => countDishes(orders), [orders]);
  const { data: menu } = useQuery({ ...menuQuery, enabled: mayChangeMenu });
  const dishes = new Map(menu?.dishes.map((dish) => [dish.sku, dish]));
  const counted = new Set(counts.map(({ sku }) => sku));
  const others = [...dishes.values()].filter((dish) => !isOn(dish) && !counted.has(dish.sku)).map(none);
  const toCook = counts.reduce((sum, dish) => sum + dish.toCook, 0);
  return (
    <aside className={classes.allDay} aria-label="All day">
      <header className={classes.columnHead}>
        <h2>All day</h2>
        <span className={classes.count}>{plural(toCook, 'piece')} to cook</span>
      </header>
      <ul>
        {[...counts, ...others].map((count) => (
          <DishRow key={count.sku} count={count} dish={dishes.get(count.sku)} />
        ))}
      </ul>
    </aside>
  );
}

/** `dish`: as the menu has it, if the person may change that. */
function DishRow({ count: { name, open, toCook, variants }, dish }: { count: DishCount; dish: Dish | undefined }) {
  const parts = [...variants].map(([variant, count]) => `${count} ${variant}`);
  if (toCook < open) parts.push(toCook === 0 ? 'all cooked' : `${toCook} to cook`);
  const isSoldOut = dish !== undefined && !isOn(dish);
  const words = isSoldOut ? 'Put back' : 'Sold out';
  return (
    <li>
      <b>{open || '–'}</b>
      <span>
        {isSoldOut ? <del>{name}</del> : name}
        <small>{parts.join(' · ')}</small>
      </span>
      {dish && (
        <Button
          variant={isSoldOut ? 'light' : 'default'}
          h="max(2.3em, 44px)"
          px="0.7em"
          fz="0.86em"
          aria-label={`${words}: ${name}`}
          onClick={() => void changeAvailability([dish], isSoldOut)}
        >
          {words}
        </Button>
      )}
    </li>
  );
}
