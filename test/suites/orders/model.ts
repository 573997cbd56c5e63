import { ORDER_STATUSES, type OrderStatus } from '#restaurant/orders/order-status.ts';

/** What the contract says about one order of a partner. */
export interface Order {
  type: 'delivery' | 'pick_up';
  quantity: number;
  /** All statuses of the order, oldest first. The creation sends no event, and each later status sends one (rule 20). */
  statuses: OrderStatus[];
}

/** Call to the service, or a change of the partner's receiver. `name` is the external id of an order. */
export type Turn =
  /** Places an order several times at once. */
  | { do: 'place'; name: number; quantity: number; type: Order['type']; times: number }
  /** Sends the same change several times at once, each without a `request_id`. */
  | { do: 'move'; name: number; status: OrderStatus; expected: OrderStatus | null; times: number }
  /** Sends the same change several times, one after the other, with one `request_id`. */
  | { do: 'repeat'; name: number; status: OrderStatus; times: number }
  | { do: 'cancel'; name: number }
  | { do: 'receive'; accepts: boolean };

export type Orders = Map<number, Order>;

/** Returns the answers that a turn must get, in any order, and changes the orders as the service must. */
export function play(orders: Orders, turn: Turn): number[] {
  if (turn.do === 'receive') return [];
  const order = orders.get(turn.name);
  if (turn.do === 'place') {
    if (order === undefined) {
      orders.set(turn.name, { type: turn.type, quantity: turn.quantity, statuses: ['pending'] });
    }
    return Array.from({ length: turn.times }, (_, index) => (index === 0 && order === undefined ? 201 : 200));
  }
  if (turn.do === 'cancel') {
    return [order === undefined ? 404 : move(order, 'cancelled', null)];
  }
  if (order === undefined) {
    return Array.from({ length: turn.times }, () => 404);
  }
  const first = move(order, turn.status, turn.do === 'move' ? turn.expected : null);
  const later = turn.do === 'repeat' && first === 200 ? 200 : 409;
  return [first, ...Array.from({ length: turn.times - 1 }, () => later)];
}

function move(order: Order, status: OrderStatus, expected: OrderStatus | null): number {
  const present = statusOf(order);
  const isOver = present === 'completed' || present === 'cancelled';
  const isForward = ORDER_STATUSES.indexOf(status) > ORDER_STATUSES.indexOf(present);
  const isWrongWay = status === 'out_for_delivery' && order.type !== 'delivery';
  if (isOver || !isForward || isWrongWay || (expected !== null && expected !== present)) return 409;
  order.statuses.push(status);
  return 200;
}

export function statusOf({ statuses }: Order): OrderStatus {
  return statuses.at(-1) ?? 'pending';
}
