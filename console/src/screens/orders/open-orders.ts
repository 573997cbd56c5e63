import type { Answer } from '../../api/client.ts';
import { keepRow } from '../../api/keep-row.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { isOpen, OPEN_STATUSES, type OpenStatus, type Order, type OrderStatus } from './statuses.ts';

/** A change of an order that the service does not have yet. The board shows it at once. */
export interface Move {
  order: Order;
  to: OrderStatus;
  /** Server's time of the press, as text like the times of the API. */
  at: string;
  /** `undo`: it waits behind Undo. `sending`: it is on its way, or the service is away. */
  phase: 'undo' | 'sending';
}

/** Most open orders that the API lists at once. */
export const MOST_OPEN = 500;

export const openOrdersQuery = read('listStaffOrders', { query: { open: true, limit: MOST_OPEN, order: 'oldest' } }, [
  'orders',
]);

/** Puts an order that the service has just answered in place of what the screen knew of it. */
export async function keepOrder(answer: Answer<'getStaffOrder'>): Promise<void> {
  const { history: _history, ...row } = answer;
  await keepRow('listStaffOrders', row, ({ order_id: id }) => id);
  void queryClient.invalidateQueries({ queryKey: ['getStaffOrder', { path: { order_id: row.order_id } }] });
}

export type Columns = Record<OpenStatus, Order[]>;

const moved = new WeakMap<Move, Order>();

/** Returns the order as the board shows it: with the status of a move that the service does not have yet. */
export function withMove(order: Order, move: Move | undefined): Order {
  if (move === undefined) return order;
  const known = moved.get(move);
  if (known) return known;
  const shown = { ...order, status: move.to, status_changed_at: move.at };
  moved.set(move, shown);
  return shown;
}

/** Sorts the open orders into the columns of the board, oldest first as they come. */
export function columnsOf(orders: Order[]): Columns {
  const columns = Object.fromEntries(OPEN_STATUSES.map((status) => [status, [] as Order[]])) as Columns;
  for (const order of orders) {
    if (isOpen(order.status)) columns[order.status].push(order);
  }
  return columns;
}
