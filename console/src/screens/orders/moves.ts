import { notifications } from '@mantine/notifications';
import { call, Refused } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { newRequestId } from '../../api/request-id.ts';
import { serverNow } from '../../live/clock.ts';
import { sendWhenBack } from '../../live/held-write.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { makeStore, useStore } from '../../ui/store.ts';
import { keepOrder, type Move } from './open-orders.ts';
import { type Order, type OrderStatus, STATUS } from './statuses.ts';

/** A forward move waits this long behind Undo before it is sent. */
const UNDO_MS = 3_000;

interface OwnMove extends Move {
  reason: string | undefined;
  requestId: string;
  timer?: ReturnType<typeof setTimeout>;
  /** Resolves to false if an earlier move of the same order was refused, so that this one falls with it. */
  before: Promise<boolean> | undefined;
  /** Resolves to true when the service has the move. */
  sent?: Promise<boolean>;
}

const moves = new Map<string, OwnMove>();
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
  changed();
}

/** Cancels an order. It is sent at once, because its dialog has asked already. */
export function cancelOrder(order: Order, reason: string | undefined): void {
  void sendMove(begin(order, 'cancelled', reason));
}

function begin(order: Order, to: OrderStatus, reason?: string): OwnMove {
  const earlier = moves.get(order.order_id);
  const before = earlier && sendMove(earlier);
  const move: OwnMove = {
    order: { ...order, status: earlier?.to ?? order.status },
    to,
    reason,
    at: new Date(serverNow()).toISOString(),
    phase: 'undo',
    requestId: newRequestId(),
    before,
  };
  moves.set(order.order_id, move);
  return move;
}

/** Takes back a move that waits. Without an id, the last one. */
export function undo(orderId?: string): void {
  const id = orderId ?? [...moves].findLast(([, { phase }]) => phase === 'undo')?.[0];
  const move = id === undefined ? undefined : moves.get(id);
  if (id === undefined || move?.phase !== 'undo') return;
  clearTimeout(move.timer);
  moves.delete(id);
  changed();
}

/** Sends all moves that wait behind Undo. */
export function sendWaiting(): void {
  for (const move of moves.values()) {
    if (move.phase === 'undo') void sendMove(move);
  }
}

/** Sends a move once. @returns true if the order has the status now */
function sendMove(move: OwnMove): Promise<boolean> {
  if (move.sent) return move.sent;
  clearTimeout(move.timer);
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

async function deliver({ order, to, requestId, reason }: OwnMove): Promise<boolean> {
  const body = { status: to, expected_status: order.status, request_id: requestId, reason };
  const input = { path: { order_id: order.order_id }, body };
  try {
    await keepOrder(await sendWhenBack(() => call('changeOrderStatus', input, { keepalive: true })));
    return true;
  } catch (error) {
    await explain(order, to, error as Error);
    return false;
  }
}

/** Reads the row again, and says why the press did not count. */
async function explain(order: Order, to: OrderStatus, error: Error): Promise<void> {
  const isConflict = error instanceof Refused && error.status === 409;
  const now = await call('getStaffOrder', { path: { order_id: order.order_id } }).catch(() => null);
  if (now === null) {
    void queryClient.invalidateQueries({ queryKey: ['listStaffOrders'] });
  } else {
    await keepOrder(now);
  }
  const hasIt = now?.status === to;
  const title = `${order.number}: ${hasIt ? 'already' : 'not'} ${STATUS[to].label.toLowerCase()}`;
  const message =
    isConflict && now !== null
      ? `${whoWasFirst(now.history?.at(-1)?.by)} The order is ${STATUS[now.status].label.toLowerCase()} now.`
      : error.message;
  notifications.show({ title, message, color: isConflict ? 'yellow' : 'red', autoClose: isConflict ? 8_000 : false });
}

/** Sends what waits when the page hides or closes. @returns the function that ends this */
export function watchPage(): () => void {
  const onHide = () => {
    if (document.visibilityState === 'hidden') sendWaiting();
  };
  window.addEventListener('pagehide', sendWaiting);
  document.addEventListener('visibilitychange', onHide);
  return () => {
    window.removeEventListener('pagehide', sendWaiting);
    document.removeEventListener('visibilitychange', onHide);
    // Another screen has no Undo for what waits here.
    sendWaiting();
  };
}
