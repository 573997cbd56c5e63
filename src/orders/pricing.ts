import { apiError, invalidField } from '../errors.ts';
import { centsOf, exceedsMaximum, formatCents } from '../lib/money.ts';
import type { Dish, ListedMenu } from '../menu/menu.ts';
import type { OrderItem, OrderLine } from './schema.ts';

export interface PricedOrder {
  lines: OrderLine[];
  /** Decimal text, the sum of the lines. */
  total: string;
}

/**
 * Prices the items of an order by the menu as it is now (decisions 19 and 21). Faults in several items: the first is told.
 * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`; `invalid_request` for a total too large to store
 */
export function priceItems(menu: ListedMenu, items: OrderItem[]): PricedOrder {
  const priced = items.map((item, index) => priceItem(menu, item, `items.${index}`));
  const total = priced.reduce((sum, { cents }) => sum + cents, 0);
  if (exceedsMaximum(total)) {
    throw invalidField('items', 'come to more than 99999999.99 together');
  }
  return { lines: priced.map(({ line }) => line), total: formatCents(total) };
}

/** Exact as long as the amount can be stored: up to there, every product in it is below 2^53. */
function priceItem(menu: ListedMenu, item: OrderItem, path: string): { line: OrderLine; cents: number } {
  const dish = menu.bySku.get(item.item_id);
  if (dish === undefined) {
    throw apiError(
      'item_not_found',
      `${path}.item_id: no dish on the menu has the sku ${JSON.stringify(item.item_id)}`,
    );
  }
  const variant = findVariant(dish, item, path);
  const addons = findAddons(dish, item, path);
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

function findVariant(dish: Dish, item: OrderItem, path: string): Dish['price_variants'][number] | undefined {
  if (item.variant_id === undefined) {
    return undefined;
  }
  const variant = dish.price_variants.find((each) => each.id === item.variant_id);
  if (variant === undefined) {
    throw apiError('variant_not_found', `${path}.variant_id: the dish has no such variant`);
  }
  return variant;
}

function findAddons(dish: Dish, item: OrderItem, path: string): OrderLine['addons'] {
  return (item.addons ?? []).map((wanted, index) => {
    const addon = dish.addons.find((each) => each.id === wanted.addon_id);
    if (addon === undefined) {
      throw apiError('addon_not_found', `${path}.addons.${index}.addon_id: the dish has no such add-on`);
    }
    return { name: addon.name, quantity: wanted.quantity ?? 1, price: addon.price };
  });
}
