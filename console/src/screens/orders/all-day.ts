import { isOpen, type Order } from './statuses.ts';

export interface DishCount {
  sku: string;
  name: string;
  /** Pieces in all open orders. */
  open: number;
  /** Pieces of them that are not ready yet. */
  toCook: number;
  /** Pieces by variant, if the dish has some. */
  variants: [name: string, open: number][];
}

const COOKED = new Set(['ready', 'out_for_delivery']);

/** Counts each dish over the open orders, the most frequent one first. */
export function countDishes(orders: readonly Order[]): DishCount[] {
  const dishes = new Map<string, Omit<DishCount, 'variants'> & { variants: Map<string, number> }>();
  for (const { status, lines } of orders) {
    if (!isOpen(status)) continue;
    for (const { sku, name, variant, quantity } of lines) {
      const dish = dishes.get(sku) ?? { sku, name, open: 0, toCook: 0, variants: new Map<string, number>() };
      dishes.set(sku, dish);
      dish.open += quantity;
      if (!COOKED.has(status)) dish.toCook += quantity;
      if (variant !== null) dish.variants.set(variant, (dish.variants.get(variant) ?? 0) + quantity);
    }
  }
  return [...dishes.values()]
    .map((dish) => ({ ...dish, variants: [...dish.variants] }))
    .sort((one, other) => other.open - one.open || other.toCook - one.toCook || one.name.localeCompare(other.name));
}
