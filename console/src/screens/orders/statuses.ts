import type { Entry } from '../../api/reads.ts';
import type { Tone } from '../../ui/status.tsx';

export type Order = Entry<'listStaffOrders'>;
export type OrderStatus = Order['status'];
export type OpenStatus = Exclude<OrderStatus, 'completed' | 'cancelled'>;

/** Columns of the board, from left to right. */
export const OPEN_STATUSES = [
  'pending',
  'confirmed',
  'preparing',
  'ready',
  'out_for_delivery',
] as const satisfies readonly OpenStatus[];
const STEPS: readonly OrderStatus[] = [...OPEN_STATUSES, 'completed'];

interface Words {
  /** What an order in this status is. */
  label: string;
  /** What a person does that gives an order this status. */
  press: string;
  tone: Tone;
}

export const STATUS: Record<OrderStatus, Words> = {
  pending: { label: 'New', press: '', tone: 'accent' },
  confirmed: { label: 'Confirmed', press: 'Accept', tone: 'quiet' },
  preparing: { label: 'Cooking', press: 'Cook', tone: 'warn' },
  ready: { label: 'Ready', press: 'Ready', tone: 'good' },
  out_for_delivery: { label: 'On the way', press: 'Send out', tone: 'quiet' },
  completed: { label: 'Completed', press: 'Complete', tone: 'quiet' },
  cancelled: { label: 'Cancelled', press: 'Cancel', tone: 'late' },
};

export const TYPES: Record<Order['order_type'], string> = {
  delivery: 'Delivery',
  take_away: 'Take-away',
  pick_up: 'Pick-up',
};

/** Statuses to which an order may go on, nearest first. They are the API's rules without `cancelled`. */
export function laterStatuses({ status, order_type: type }: Order): OrderStatus[] {
  const place = STEPS.indexOf(status);
  if (place === -1) return [];
  return STEPS.slice(place + 1).filter((each) => each !== 'out_for_delivery' || type === 'delivery');
}

export function isOpen(status: OrderStatus): status is OpenStatus {
  return status !== 'completed' && status !== 'cancelled';
}

/** The kitchen is not done with it. */
export function isToCook({ status }: Order): boolean {
  return status === 'pending' || status === 'confirmed' || status === 'preparing';
}

/** Words of the button that gives the order this status. A guest fetches an order that is not delivered. */
export function pressOf(status: OrderStatus, { order_type: type }: Order): string {
  if (status === 'completed') return type === 'delivery' ? 'Delivered' : 'Collected';
  return STATUS[status].press;
}

/** The partner of an order, in a word that is never empty. */
export function partnerOf({ credential_label: label, credential_id: id }: Order): string {
  return label === '' ? `Partner ${id.slice(-4)}` : label;
}

/** What a line has beside its dish: the variant, and each add-on as `+ 2 × Cheese`. */
export function extrasOf({ variant, addons }: Order['lines'][number]): string[] {
  const texts = addons.map((addon) => `+ ${countOf(addon.quantity)}${addonName(addon)}`);
  return variant === null ? texts : [variant, ...texts];
}

/** Menus may name an add-on with the sign that stands before it here. */
export function addonName({ name }: { name: string }): string {
  return name.replace(/^\+\s*/, '');
}

/** `2 × ` before what is there more than once. */
export function countOf(quantity: number): string {
  return quantity > 1 ? `${quantity} × ` : '';
}
