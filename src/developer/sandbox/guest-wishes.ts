import { randomBytes } from 'node:crypto';
import { addDays, type DateText } from '#platform/lib/dates.ts';
import type { Orders } from '#restaurant/orders/orders.ts';

type Order = Parameters<Orders['place']>[1];
type OrderItem = Order['items'][number];

const FIRST_NAMES = ['Ana', 'Beatriz', 'Carla', 'Diogo', 'Eva', 'Filipe', 'Gonçalo', 'Helena', 'Inês', 'João', 'Luís'];
const LAST_NAMES = ['Almeida', 'Barros', 'Costa', 'Duarte', 'Esteves', 'Ferreira', 'Gomes', 'Henriques', 'Lopes'];
const STREETS = ['Rua das Flores', 'Rua do Carmo', 'Avenida da Liberdade', 'Largo do Rato', 'Travessa da Espera'];
const NOTES = ['No onions, please.', 'The bell does not work, please call.', 'Extra napkins.'];
const ORDER_TYPES = ['delivery', 'delivery', 'delivery', 'pick_up', 'take_away'] as const;
/** Dishes that a guest orders first, by the beginning of their SKU. The dishes `SANDBOX-…` are for tests of partners. */
const IS_MEAL = /^(?!SANDBOX-|BEER|WINE|SOFT|SPIRITS|RED-|WHITE-|ROSE-|CHAMPAGNE|MILKSHAKES|RICE|BREAD|SIDE)/;
const IS_SIDE = /^(?:RICE|BREAD|SIDE|SOFT|MILKSHAKES)/;

/** Dish on the menu, as partners see it. */
export interface MenuDish {
  sku: string;
  price_variants: { id: string }[];
  addons: { id: string }[];
}

export function wishedOrder(dishes: MenuDish[]): Order {
  const order_type = oneOf(ORDER_TYPES);
  return {
    external_order_id: `DG-${randomBytes(4).toString('hex').toUpperCase()}`,
    order_type,
    items: [...some(dishes, IS_MEAL, 1, 3), ...some(dishes, IS_SIDE, 0, 2)],
    customer: { name: guestName(), phone: phoneNumber() },
    ...(order_type === 'delivery' ? { delivery_address: `${oneOf(STREETS)} ${between(1, 90)}, Lisboa` } : {}),
    ...(Math.random() < 0.25 ? { notes: oneOf(NOTES) } : {}),
  };
}

export function wishedStay({ id, max_occupancy }: { id: string; max_occupancy: number }, today: DateText) {
  // Most guests come soon, and some in four weeks.
  const check_in = addDays(today, Math.floor(Math.random() ** 2 * 28));
  return {
    external_reservation_id: `DG-STAY-${randomBytes(4).toString('hex').toUpperCase()}`,
    room_type_id: id,
    check_in,
    check_out: addDays(check_in, between(1, 5)),
    guests: between(1, Math.min(max_occupancy, 4)),
    guest: { name: guestName(), phone: phoneNumber() },
  };
}

function some(dishes: MenuDish[], isWanted: RegExp, least: number, most: number): OrderItem[] {
  const wanted = dishes.filter(({ sku }) => isWanted.test(sku));
  return wanted.length === 0 ? [] : Array.from({ length: between(least, most) }, () => itemOf(oneOf(wanted)));
}

function itemOf({ sku, price_variants, addons }: MenuDish): OrderItem {
  const addon = Math.random() < 0.3 && addons.length > 0 ? oneOf(addons) : null;
  return {
    item_id: sku,
    quantity: Math.random() < 0.7 ? 1 : 2,
    ...(price_variants.length > 0 ? { variant_id: oneOf(price_variants).id } : {}),
    ...(addon === null ? {} : { addons: [{ addon_id: addon.id, quantity: 1 }] }),
  };
}

function guestName(): string {
  return `${oneOf(FIRST_NAMES)} ${oneOf(LAST_NAMES)}`;
}

function phoneNumber(): string {
  return `+351 9${between(10, 39)} ${between(100, 999)} ${between(100, 999)}`;
}

export function oneOf<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item;
}

/** Returns a whole number from `least` to `most`. */
export function between(least: number, most: number): number {
  return least + Math.floor(Math.random() * (most - least + 1));
}
