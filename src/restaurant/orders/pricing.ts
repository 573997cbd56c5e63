import { setImmediate } from 'node:timers/promises';
import { ApiError, apiError, invalidField } from '#platform/errors.ts';
import { MAX_ORDER_LINES_BYTES, MAX_ORDER_PARTS } from '#platform/lib/bounds.ts';
import { centsOf, exceedsMaximum, formatCents, unitOf } from '#platform/lib/money.ts';
import type { Dish, ListedMenu } from '../menu/menu.ts';
import type { OrderItem, OrderLine } from './schema.ts';

export interface PricedOrder {
  /** JSON of an array of `OrderLine`, in the order of the items. */
  lines: string;
  /** Total price of all lines, as a decimal text. */
  total: string;
}

/**
 * Number of dishes that are priced without a pause for other requests. A dish with 200 add-ons takes 0.2 ms, because it is parsed from the
 * menu.
 */
const DISHES_AT_ONCE = 25;

/** Item of an order, with its index in the order. */
interface IndexedItem {
  item: OrderItem;
  index: number;
}

/**
 * Prices the items of an order with the prices of the current menu (decisions 19 and 21). If several items are invalid, reports the first
 * one. First prices all items of one dish, then all items of the next dish. So each dish is read once, and only one dish is in memory.
 * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`, or `invalid_request` if the order has too many items and
 *   add-ons, or if the lines or the total are too large to store
 */
export async function priceItems(menu: Pick<ListedMenu, 'bySku'>, items: OrderItem[]): Promise<PricedOrder> {
  checkParts(items);
  const priced = new PricedLines();
  for (const [index, [sku, group]] of [...groupBySku(items)].entries()) {
    if (index > 0 && index % DISHES_AT_ONCE === 0) {
      await setImmediate();
    }
    // The order is refused for its first invalid item. So a dish is not priced if all its items come after an invalid item.
    if ((group[0]?.index ?? 0) < priced.faultIndex) {
      priceDish(menu.bySku.get(sku), group, priced);
    }
  }
  return priced.finish();
}

function checkParts(items: OrderItem[]): void {
  const parts = items.reduce((sum, { addons }) => sum + 1 + (addons?.length ?? 0), 0);
  if (parts > MAX_ORDER_PARTS) {
    throw invalidField(
      'items',
      `are ${parts} items and add-ons together, but an order may have at most ${MAX_ORDER_PARTS}. Send them as several orders`,
    );
  }
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

function priceDish(dish: Dish | undefined, group: IndexedItem[], priced: PricedLines): void {
  const parts = dish === undefined ? undefined : partsOf(dish);
  for (const { item, index } of group) {
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
  /** Length of the JSON array in bytes. It begins with a bracket, and each line is followed by a comma or a bracket. */
  #bytes = 1;
  #cents = 0;
  #fault: ApiError | undefined;
  /** Index of the first invalid item found so far. Infinity until an invalid item is found. */
  faultIndex = Infinity;

  add(index: number, text: string, cents: number): void {
    this.#cents += cents;
    this.#bytes += Buffer.byteLength(text) + 1;
    if (this.#bytes <= MAX_ORDER_LINES_BYTES) {
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
    if (this.#bytes > MAX_ORDER_LINES_BYTES) {
      throw invalidField(
        'items',
        `would take ${this.#bytes} bytes with the names from the menu, but an order may have at most ${MAX_ORDER_LINES_BYTES}. ` +
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
