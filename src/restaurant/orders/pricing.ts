import { ApiError, apiError, invalidField } from '#platform/errors.ts';
import { centsOf, exceedsMaximum, formatCents, unitOf } from '#platform/lib/money.ts';
import { startTurn, type Turn } from '#platform/lib/turn.ts';
import type { Dish, ListedMenu } from '../menu/menu.ts';
import type { OrderItem, OrderLine } from './schema.ts';

/**
 * Maximum number of bytes of the stored lines of one order, as JSON. A line contains the names of its add-ons, and the request contains
 * only their ids. So a line may be forty times as long as its item in the request.
 */
export const MAX_LINES_BYTES = 4 * 1024 * 1024;

export interface PricedOrder {
  /** JSON of an array of `OrderLine`, in the order of the items. */
  lines: string;
  /** Total price of all lines, as a decimal text. */
  total: string;
}

/** Item of an order, with its index in the order. */
interface IndexedItem {
  item: OrderItem;
  index: number;
}

/**
 * Prices the items of an order with the prices of the current menu (decisions 19 and 21). If several items are invalid, reports the first
 * one. First prices all items of one dish, then all items of the next dish. So each dish is read once, and only one dish is in memory.
 * Yields to the event loop regularly.
 * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`, or `invalid_request` if the lines or the total are too
 *   large to store
 */
export async function priceItems(menu: Pick<ListedMenu, 'bySku'>, items: OrderItem[]): Promise<PricedOrder> {
  const turn = startTurn();
  const priced = new PricedLines();
  for (const [sku, group] of groupBySku(items)) {
    // The order is refused for its first invalid item. So a dish is not priced if all its items come after an invalid item.
    if ((group[0]?.index ?? 0) < priced.faultIndex) {
      await priceDish(menu.bySku.get(sku), group, priced, turn);
    }
  }
  return priced.finish();
}

function groupBySku(items: OrderItem[]): Map<string, IndexedItem[]> {
  const groups = new Map<string, IndexedItem[]>();
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

async function priceDish(dish: Dish | undefined, group: IndexedItem[], priced: PricedLines, turn: Turn): Promise<void> {
  const parts = dish === undefined ? undefined : partsOf(dish);
  for (const { item, index } of group) {
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

/** Collects the priced lines of one order. The lines may be added in any sequence. */
class PricedLines {
  readonly #texts: string[] = [];
  #bytes = 0;
  #cents = 0;
  #fault: ApiError | undefined;
  /** Index of the first invalid item found so far. Infinity until an invalid item is found. */
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
      throw invalidField('items', 'cost more than 99999999.99 in total. Send them as several orders');
    }
    if (this.#bytes > MAX_LINES_BYTES) {
      throw invalidField(
        'items',
        `would take ${this.#bytes} bytes with the names from the menu, but an order may have at most ${MAX_LINES_BYTES}. ` +
          'Send them as several orders',
      );
    }
    return { lines: `[${this.#texts.join(',')}]`, total: formatCents(this.#cents) };
  }
}

/** Dish, with maps that find its variants and add-ons by id. */
interface DishParts {
  dish: Dish;
  /** Smallest amount of the currency, in cents. */
  unit: number;
  variants: ReadonlyMap<string, Dish['price_variants'][number]>;
  addons: ReadonlyMap<string, Dish['addons'][number]>;
}

function partsOf(dish: Dish): DishParts {
  return {
    dish,
    unit: unitOf(dish.currency),
    variants: new Map(dish.price_variants.map((variant) => [variant.id, variant])),
    addons: new Map(dish.addons.map((addon) => [addon.id, addon])),
  };
}

/** Prices one item. The price is exact if it is small enough to be stored, because then every number in its calculation is below 2^53. */
function priceItem(parts: DishParts | undefined, item: OrderItem, path: string): { line: OrderLine; cents: number } {
  if (parts === undefined) {
    throw apiError(
      'item_not_found',
      `${path}.item_id: no dish on the menu has the sku ${JSON.stringify(item.item_id)}`,
    );
  }
  const { dish, unit } = parts;
  const variant = findVariant(parts, item, path);
  const addons = findAddons(parts, item, path);
  const unitPrice = variant?.price ?? dish.price;
  const taxPercentage = dish.is_taxable ? dish.extra_tax_percentage : '0.00';
  const onePiece = addons.reduce((sum, addon) => sum + centsOf(addon.price) * addon.quantity, centsOf(unitPrice));
  const untaxed = onePiece * item.quantity;
  const cents = Math.round((untaxed * (10_000 + centsOf(taxPercentage))) / (10_000 * unit)) * unit;
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
