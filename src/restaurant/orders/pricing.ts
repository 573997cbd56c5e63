import { setImmediate } from 'node:timers/promises';
import { apiError, invalidField } from '#platform/errors.ts';
import { MAX_ORDER_LINES_BYTES, MAX_ORDER_PARTS } from '#platform/lib/bounds.ts';
import { centsOf, exceedsMaximum, formatCents, unitOf } from '#platform/lib/money.ts';
import type { Dish, ListedMenu } from '../menu/menu.ts';
import type { OrderItem, OrderLine } from './schema.ts';

/** Number of items that are priced without a pause for other requests. A dish with 200 add-ons takes 0.2 ms. */
const ITEMS_AT_ONCE = 25;

/**
 * Prices the items of an order with the prices of the current menu (rules 19 and 21). If several items are invalid, reports the first
 * one.
 * @returns JSON of an array of `OrderLine`, in the order of the items, and the total price of all lines
 * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`, or `invalid_request` if the order has too many items and
 *   add-ons, or if the lines or the total are too large to store
 */
export async function priceItems(menu: Pick<ListedMenu, 'bySku'>, items: OrderItem[]) {
  checkParts(items);
  const texts: string[] = [];
  let cents = 0;
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % ITEMS_AT_ONCE === 0) {
      await setImmediate();
    }
    const priced = priceItem(menu.bySku.get(item.item_id), item, `items.${index}`);
    texts.push(JSON.stringify(priced.line));
    cents += priced.cents;
  }
  if (exceedsMaximum(cents)) {
    throw invalidField('items', 'cost more than 99999999.99 in total. Send them as several orders');
  }
  const lines = `[${texts.join(',')}]`;
  const bytes = Buffer.byteLength(lines);
  if (bytes > MAX_ORDER_LINES_BYTES) {
    throw invalidField(
      'items',
      `would take ${bytes} bytes with the names from the menu, but an order may have at most ${MAX_ORDER_LINES_BYTES}. ` +
        'Send them as several orders',
    );
  }
  return { lines, total: formatCents(cents) };
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

/** Prices one item. The price is exact if it is small enough to be stored, because then every number in its calculation is below 2^53. */
function priceItem(dish: Dish | undefined, item: OrderItem, path: string): { line: OrderLine; cents: number } {
  if (dish === undefined) {
    throw apiError(
      'item_not_found',
      `${path}.item_id: no dish on the menu has the sku ${JSON.stringify(item.item_id)}`,
    );
  }
  const unit = unitOf(dish.currency);
  const variant = findVariant(dish, item, path);
  const addons = findAddons(dish, item, path);
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

function findVariant(dish: Dish, { variant_id: id }: OrderItem, path: string) {
  const variant = dish.price_variants.find((each) => each.id === id);
  if (id !== undefined && variant === undefined) {
    throw apiError('variant_not_found', `${path}.variant_id: the dish has no such variant`);
  }
  return variant;
}

function findAddons(dish: Dish, item: OrderItem, path: string): OrderLine['addons'] {
  return (item.addons ?? []).map((wanted, index) => {
    const addon = dish.addons.find(({ id }) => id === wanted.addon_id);
    if (addon === undefined) {
      throw apiError('addon_not_found', `${path}.addons.${index}.addon_id: the dish has no such add-on`);
    }
    return { name: addon.name, quantity: wanted.quantity ?? 1, price: addon.price };
  });
}
