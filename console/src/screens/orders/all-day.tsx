import { Box, Button, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { areasOf, useMe } from '../../api/session.ts';
import { changeAvailability, type Dish, isOn, menuQuery } from '../../ui/dishes.ts';
import { plural } from '../../ui/format.ts';
import classes from './board.module.css';
import { isToCook, type Order } from './statuses.ts';

interface DishCount {
  sku: string;
  name: string;
  pieces: number;
  variants: Map<string, number>;
}

function countDishes(orders: readonly Order[]): DishCount[] {
  const dishes = new Map<string, DishCount>();
  for (const { sku, name, variant, quantity } of orders.filter(isToCook).flatMap(({ lines }) => lines)) {
    const dish = dishes.get(sku) ?? { sku, name, pieces: 0, variants: new Map<string, number>() };
    dishes.set(sku, dish);
    dish.pieces += quantity;
    if (variant !== null) dish.variants.set(variant, (dish.variants.get(variant) ?? 0) + quantity);
  }
  return [...dishes.values()].sort((one, other) => other.pieces - one.pieces || one.name.localeCompare(other.name));
}

/** Counts of all dishes that are to be cooked, and below them what else is sold out. */
export function AllDay({ orders }: { orders: readonly Order[] }) {
  const mayChangeMenu = areasOf(useMe()).includes('menu');
  const counts = useMemo(() => countDishes(orders), [orders]);
  const { data: menu } = useQuery({ ...menuQuery, enabled: mayChangeMenu });
  const dishes = new Map(menu?.dishes.map((dish) => [dish.sku, dish]));
  const counted = new Set(counts.map(({ sku }) => sku));
  const others = [...dishes.values()].filter((dish) => !isOn(dish) && !counted.has(dish.sku));
  const pieces = counts.reduce((sum, count) => sum + count.pieces, 0);
  return (
    <aside className={classes.allDay} aria-label="All day">
      <header>
        <Title order={2} fz="1em">
          All day
        </Title>
        {plural(pieces, 'piece')} to cook
      </header>
      <ul>
        {counts.map((count) => (
          <DishRow key={count.sku} {...count} dish={dishes.get(count.sku)} />
        ))}
        {others.map((dish) => (
          <DishRow key={dish.sku} name={dish.name} dish={dish} />
        ))}
      </ul>
    </aside>
  );
}

const LINE = { borderBottom: '1px solid var(--rs-line)', overflowWrap: 'anywhere' } as const;

/** `dish`: as the menu has it, if the person may change that. */
function DishRow({ name, pieces, variants, dish }: Partial<DishCount> & { dish: Dish | undefined }) {
  const isSoldOut = dish !== undefined && !isOn(dish);
  const words = isSoldOut ? 'Put back' : 'Sold out';
  return (
    <Group component="li" gap="0.7em" wrap="nowrap" py="0.4em" lh={1.25} style={LINE}>
      <Text span fz="1.3em" fw={700} w="1.5em" ta="right">
        {pieces ?? '–'}
      </Text>
      <Box flex={1}>
        {isSoldOut ? <del>{name}</del> : name}
        <Text fz="0.93em" c="dimmed">
          {[...(variants ?? [])].map(([variant, count]) => `${count} ${variant}`).join(' · ')}
        </Text>
      </Box>
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
    </Group>
  );
}
