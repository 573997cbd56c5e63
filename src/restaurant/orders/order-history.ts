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
 * ends with the present status. Returns null if one of the changes of the status is not stored. This happens if a process of an earlier
 * version made the change.
 */
export function historyOf(
  order: Pick<OrderRow, 'status' | 'created_at' | 'credential_id'>,
  changes: StatusChangeRow[],
): HistoryEntry[] | null {
  const after = new Map(changes.map((change) => [change.status_before, change]));
  const by: ChangeActor = { type: 'partner', id: order.credential_id };
  const history: HistoryEntry[] = [{ status: 'pending', at: order.created_at, by }];
  for (let status = 'pending'; status !== order.status; ) {
    const change = after.get(status);
    if (change === undefined) {
      return null;
    }
    ({ status } = change);
    history.push(entryOf(change));
  }
  return history;
}

function entryOf({ status, changed_at, actor_type, actor_id }: StatusChangeRow): HistoryEntry {
  return {
    status: status as OrderStatus,
    at: changed_at,
    by: { type: actor_type as ChangeActor['type'], id: actor_id },
  };
}
