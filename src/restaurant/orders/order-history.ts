import type { ChangeActor } from '#access/actors/actors.ts';
import type { OrderStatus } from './order-status.ts';
import type { OrderRow, StatusChangeRow } from './store.ts';

export interface HistoryEntry {
  status: OrderStatus;
  at: Date;
  by: ChangeActor;
}

/** The history ends with the status of the order, also if the order has changed after it was read. */
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
