import { useWindowEvent } from '@mantine/hooks';
import { useEffect } from 'react';
import { type Answer, call, newRequestId } from '../../api/client.ts';
import { keepRow, queryClient } from '../../api/query-client.ts';
import { serverNow } from '../../live/clock.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { press, write } from '../../ui/press.ts';
import { makeStore, useStore } from '../../ui/store.ts';
import { hideUndo, showUndo } from '../../ui/undo-notice.tsx';
import { type Order, type OrderStatus, STATUS } from './statuses.ts';

/** A forward move waits this long behind Undo before it is sent. */
const UNDO_MS = 3_000;

/** A change of an order that the service does not have yet. The screen shows it at once. */
export interface Move {
  /** The order as it will be. It stays the same object, so that its card does not render again. */
  order: Order;
  from: OrderStatus;
  reason: string | undefined;
  /** `undo`: it waits behind Undo. `sending`: it is on its way, or the service is away. */
  phase: 'undo' | 'sending';
  requestId: string;
  timer?: ReturnType<typeof setTimeout>;
  /** Resolves to false if an earlier move of the same order was refused, so that this one falls with it. */
  before: Promise<boolean> | undefined;
  /** Resolves to true when the service has the move. */
  sent?: Promise<boolean>;
}

const moves = new Map<string, Move>();
/** The move whose notice with Undo is shown. On a phone, its card may be out of sight. */
let told: Move | undefined;
const shown = makeStore<ReadonlyMap<string, Move>>(moves);

/** Moves by the id of their order. */
export function useMoves(): ReadonlyMap<string, Move> {
  return useStore(shown);
}

function changed(): void {
  shown.set(new Map(moves));
}

/** Moves an order on. It is sent when the time for Undo is over, or when the page hides or closes. */
export function moveOn(order: Order, to: OrderStatus): void {
  const move = begin(order, to);
  move.timer = setTimeout(() => void sendMove(move), UNDO_MS);
  told = move;
  showUndo(`#${order.number} ${STATUS[to].label}`, '', () => undo(order.order_id));
  changed();
}

/** Cancels an order. It is sent at once, because its dialog has asked already. */
export function cancelOrder(order: Order, reason: string | undefined): void {
  void sendMove(begin(order, 'cancelled', reason));
}

function begin(order: Order, to: OrderStatus, reason?: string): Move {
  const earlier = moves.get(order.order_id);
  const move: Move = {
    order: { ...order, status: to, status_changed_at: new Date(serverNow()).toISOString() },
    from: earlier?.order.status ?? order.status,
    reason,
    phase: 'undo',
    requestId: newRequestId(),
    before: earlier && sendMove(earlier),
  };
  moves.set(order.order_id, move);
  return move;
}

export function undo(orderId: string): void {
  const move = moves.get(orderId);
  if (move?.phase !== 'undo') return;
  endUndo(move);
  moves.delete(orderId);
  changed();
}

function endUndo(move: Move): void {
  clearTimeout(move.timer);
  if (told === move) hideUndo();
}

function sendWaiting(): void {
  for (const move of moves.values()) {
    if (move.phase === 'undo') void sendMove(move);
  }
}

/** Sends a move once. @returns true if the order has the status now */
function sendMove(move: Move): Promise<boolean> {
  if (move.sent) return move.sent;
  endUndo(move);
  move.phase = 'sending';
  changed();
  // No await before the call: a page that closes has no later moment.
  const sending = move.before ? move.before.then((isFree) => isFree && deliver(move)) : deliver(move);
  move.sent = sending.finally(() => {
    if (moves.get(move.order.order_id) !== move) return;
    moves.delete(move.order.order_id);
    changed();
  });
  return move.sent;
}

function deliver({ order: { order_id, number, status }, from, requestId, reason }: Move): Promise<boolean> {
  const path = { order_id };
  const body = { status, expected_status: from, request_id: requestId, reason };
  const labelOf = (each: OrderStatus) => STATUS[each].label.toLowerCase();
  return press(`#${number}`, labelOf(status), () =>
    write({
      send: () => call('changeOrderStatus', { path, body }, { keepalive: true }),
      read: () => call('getStaffOrder', { path }),
      keep: keepOrder,
      explain: (now) => `${whoWasFirst(now.history?.at(-1)?.by)} The order is ${labelOf(now.status)} now.`,
    }),
  );
}

async function keepOrder(answer: Answer<'getStaffOrder'>): Promise<Answer<'getStaffOrder'>> {
  await keepRow('listStaffOrders', answer, ({ order_id: id }) => id);
  void queryClient.invalidateQueries({ queryKey: ['getStaffOrder', { path: { order_id: answer.order_id } }] });
  return answer;
}

/** Sends what waits when the page hides or closes, and when the screen is left, because another one has no Undo for it. */
export function useSendingAtEnd(): void {
  useWindowEvent('visibilitychange', () => document.visibilityState === 'hidden' && sendWaiting());
  useWindowEvent('pagehide', sendWaiting);
  useEffect(() => sendWaiting, []);
}
