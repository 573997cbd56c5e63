import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { sendWhenBack } from '../../live/held-write.ts';
import { plural } from '../../ui/format.ts';
import classes from './all-day.module.css';
import { isOpen, type Order } from './statuses.ts';

const menuQuery = read('getMenuDocument', {}, ['menu']);

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
  const dishes = menu?.dishes ?? [];
  const known = new Set(dishes.map(({ sku }) => sku));
  const soldOut = dishes.filter(({ is_active: isActive }) => isActive === false);
  const isSoldOut = (sku: string) => soldOut.some((dish) => dish.sku === sku);
  const others = soldOut
    .filter(({ sku }) => !counts.some((each) => each.sku === sku))
    .map(({ sku, name }): DishCount => ({ sku, name, open: 0, toCook: 0, variants: new Map() }));
  const toCook = counts.reduce((sum, dish) => sum + dish.toCook, 0);
  return (
    <aside className={classes.panel} aria-label="All day">
      <h2 className={classes.title}>
        All day <span className={classes.more}>{plural(toCook, 'piece')} to cook</span>
      </h2>
      <ul className={classes.dishes}>
        {[...counts, ...others].map((dish) => (
          <li key={dish.sku} data-sold-out={isSoldOut(dish.sku) || undefined}>
            <b className={classes.count}>{dish.open || '–'}</b>
            <span className={classes.name}>
              {dish.name}
              <span className={classes.more}>{describe(dish)}</span>
            </span>
            {known.has(dish.sku) && <SoldOut sku={dish.sku} name={dish.name} isSoldOut={isSoldOut(dish.sku)} />}
          </li>
        ))}
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
function SoldOut({ sku, name, isSoldOut }: { sku: string; name: string; isSoldOut: boolean }) {
  const body = { skus: [sku], is_active: isSoldOut };
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendWhenBack(() => call('changeAvailability', { body })),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: menuQuery.queryKey });
      notifications.show({
        title: isSoldOut ? `${name} is back` : `${name} is sold out`,
        message: isSoldOut
          ? 'Partners can order it again.'
          : 'New orders with it are refused. Orders on the board stay.',
        autoClose: 4_000,
      });
    },
    onError: ({ message }) => notifications.show({ title: `${name} was not changed`, message, color: 'red' }),
  });
  const words = isSoldOut ? 'Put back' : 'Sold out';
  return (
    <Button
      variant={isSoldOut ? 'light' : 'default'}
      h="max(2.3em, 44px)"
      px="0.7em"
      fz="0.86em"
      aria-label={`${words}: ${name}`}
      disabled={isPending}
      onClick={() => mutate()}
    >
      {words}
    </Button>
  );
}
