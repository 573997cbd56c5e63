import { ApiError, apiError, invalidField } from '#platform/errors.ts';
import { centsOf, exceedsMaximum, formatCents } from '#platform/lib/money.ts';
import { startTurn, type Turn } from '#platform/lib/turn.ts';
import type { Dish, ListedMenu } from '../menu/menu.ts';
import type { OrderItem, OrderLine } from './schema.ts';

/**
 * Bytes of the stored lines of one order at most, as JSON. A line repeats the names of its add-ons, so it may be forty times as long as what
 * was sent for it.
 */
export const MAX_LINES_BYTES = 4 * 1024 * 1024;

export interface PricedOrder {
  /** JSON of an array of `OrderLine`, in the order of the items. */
  lines: string;
  /** Decimal text, the sum of the lines. */
  total: string;
}

/** An item, and where it stands in the order. */
interface Placed {
  item: OrderItem;
  index: number;
}

/**
 * Prices the items of an order by the menu as it is now (decisions 19 and 21). Faults in several items: the first is told. It works in turns:
 * dish by dish, so that each is read once however many items are of it, and only one is in memory.
 * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`; `invalid_request` for lines or a total too large to store
 */
export async function priceItems(menu: Pick<ListedMenu, 'bySku'>, items: OrderItem[]): Promise<PricedOrder> {
  const turn = startTurn();
  const priced = new PricedLines();
  for (const [sku, placed] of groupBySku(items)) {
    // What stands behind a fault is not told, so it is not looked at either.
    if ((placed[0]?.index ?? 0) < priced.faultIndex) {
      await priceDish(menu.bySku.get(sku), placed, priced, turn);
    }
  }
  return priced.finish();
}

function groupBySku(items: OrderItem[]): Map<string, Placed[]> {
  const groups = new Map<string, Placed[]>();
  items.forEach((item, index) => {
    const group = groups.get(item.item_id);
    if (group === undefined) {
      groups.set(item.item_id, [{ item, index }]);
    } else {
      group.push({ item, index });
    }
  });
  return groups;
}

async function priceDish(dish: Dish | undefined, placed: Placed[], priced: PricedLines, turn: Turn): Promise<void> {
  const parts = dish === undefined ? undefined : partsOf(dish);
  for (const { item, index } of placed) {
    if (turn.isOver()) {
      await turn.next();
    }
    try {
      const { line, cents } = priceItem(parts, item, `items.${index}`);
      priced.add(index, JSON.stringify(line), cents);
    } catch (error) {
      if (error instanceof ApiError) {
        priced.refuse(index, error);
        return;
      }
      throw error;
    }
  }
}

/** The lines of one order, as they are priced in any order. */
class PricedLines {
  readonly #texts: string[] = [];
  #bytes = 0;
  #cents = 0;
  #fault: ApiError | undefined;
  /** Where the first faulty item known so far stands. */
  faultIndex = Infinity;

  add(index: number, text: string, cents: number): void {
    this.#cents += cents;
    this.#bytes += Buffer.byteLength(text) + 1;
    if (this.#bytes <= MAX_LINES_BYTES) {
      this.#texts[index] = text;
    }
  }

  refuse(index: number, fault: ApiError): void {
    if (index < this.faultIndex) {
      this.faultIndex = index;
      this.#fault = fault;
    }
  }

  finish(): PricedOrder {
    if (this.#fault !== undefined) {
      throw this.#fault;
    }
    if (exceedsMaximum(this.#cents)) {
      throw invalidField('items', 'come to more than 99999999.99 together');
    }
    if (this.#bytes > MAX_LINES_BYTES) {
      throw invalidField(
        'items',
        `come to ${this.#bytes} bytes with the names from the menu, and an order holds ${MAX_LINES_BYTES}: send them as several orders`,
      );
    }
    return { lines: `[${this.#texts.join(',')}]`, total: formatCents(this.#cents) };
  }
}

/** A dish whose variants and add-ons are found by their ids. */
interface DishParts {
  dish: Dish;
  variants: ReadonlyMap<string, Dish['price_variants'][number]>;
  addons: ReadonlyMap<string, Dish['addons'][number]>;
}

function partsOf(dish: Dish): DishParts {
  return {
    dish,
    variants: new Map(dish.price_variants.map((variant) => [variant.id, variant])),
    addons: new Map(dish.addons.map((addon) => [addon.id, addon])),
  };
}

/** Exact as long as the amount can be stored: up to there, every product in it is below 2^53. */
function priceItem(parts: DishParts | undefined, item: OrderItem, path: string): { line: OrderLine; cents: number } {
  if (parts === undefined) {
    throw apiError(
      'item_not_found',
      `${path}.item_id: no dish on the menu has the sku ${JSON.stringify(item.item_id)}`,
    );
  }
  const { dish } = parts;
  const variant = findVariant(parts, item, path);
  const addons = findAddons(parts, item, path);
  const unitPrice = variant?.price ?? dish.price;
  const taxPercentage = dish.is_taxable ? dish.extra_tax_percentage : '0.00';
  const onePiece = addons.reduce((sum, addon) => sum + centsOf(addon.price) * addon.quantity, centsOf(unitPrice));
  const untaxed = onePiece * item.quantity;
  const cents = untaxed + Math.round((untaxed * centsOf(taxPercentage)) / 10_000);
  const line = {
    sku: dish.sku,
    name: dish.name,
    variant: variant?.name ?? null,
    quantity: item.quantity,
    unit_price: unitPrice,
    addons,
    extra_tax_percentage: taxPercentage,
    total: formatCents(cents),
  };
  return { line, cents };
}

function findVariant(
  { variants }: DishParts,
  item: OrderItem,
  path: string,
): Dish['price_variants'][number] | undefined {
  if (item.variant_id === undefined) {
    return undefined;
  }
  const variant = variants.get(item.variant_id);
  if (variant === undefined) {
    throw apiError('variant_not_found', `${path}.variant_id: the dish has no such variant`);
  }
  return variant;
}

function findAddons({ addons }: DishParts, item: OrderItem, path: string): OrderLine['addons'] {
  return (item.addons ?? []).map((wanted, index) => {
    const addon = addons.get(wanted.addon_id);
    if (addon === undefined) {
      throw apiError('addon_not_found', `${path}.addons.${index}.addon_id: the dish has no such add-on`);
    }
    return { name: addon.name, quantity: wanted.quantity ?? 1, price: addon.price };
  });
}
