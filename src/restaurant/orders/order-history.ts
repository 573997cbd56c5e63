import type { ChangeActor } from '#access/actors/actors.ts';
import type { OrderStatus } from './order-status.ts';
import type { OrderRow, StatusChangeRow } from './store.ts';

/** Entry of the history of an order, without the name of its actor. */
export interface HistoryEntry {
  status: OrderStatus;
  at: Date;
  by: ChangeActor;
}

/**
 * Returns the history of an order, oldest entry first. It begins with the status `pending`, which the partner set by placing the order, and
 * ends with the status of the order, also if the order has changed after it was read.
 */
export function historyOf(
  order: Pick<OrderRow, 'status' | 'created_at' | 'credential_id'>,
  changes: StatusChangeRow[],
): HistoryEntry[] {
  const by: ChangeActor = { type: 'partner', id: order.credential_id };
  const reached = changes.findIndex(({ status }) => status === order.status) + 1;
  return [{ status: 'pending', at: order.created_at, by }, ...changes.slice(0, reached).map(entryOf)];
}

function entryOf({ status, changed_at, actor_type, actor_id }: StatusChangeRow): HistoryEntry {
  return {
    status: status as OrderStatus,
    at: changed_at,
    by: { type: actor_type as ChangeActor['type'], id: actor_id },
  };
}
