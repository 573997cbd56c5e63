import type { ChangeActor } from '#access/actors/actors.ts';
import { apiError, notFound } from '#platform/errors.ts';
import { timeAfter } from '#platform/lib/dates.ts';
import { isUuid, newIdAt } from '#platform/lib/ids.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { mayFollow, type OrderStatus, type OrderType } from './order-status.ts';
import type { StatusChange } from './staff-schema.ts';
import * as store from './store.ts';

/** Change of the status of an order, and the person or program that makes it. */
export interface ChangeBy extends StatusChange {
  by: ChangeActor;
}

/** Status of an order, and the time when the status last changed. */
type OrderState = Pick<store.OrderRow, 'status' | 'status_changed_at'>;

/**
 * Changes the status of an order, and writes the event and the history, in one transaction. Locks the row first, and refuses a status that
 * `mayFollow` does not allow. If an earlier change of the order had the same request id, the call is a repeat. Then the function changes
 * nothing and returns the order.
 * @throws ApiError 404 (`error`) if the id is unknown, 409 (`invalid_status_transition`) if the order cannot change to this status
 */
export async function setStatus(
  transactionWithEvents: TransactionWithEvents,
  tenantId: number,
  orderId: string,
  change: ChangeBy,
): Promise<store.OrderSummary & OrderState> {
  const requestId = change.request_id?.toLowerCase() ?? null;
  return await transactionWithEvents(async (tx, record) => {
    const row = isUuid(orderId) ? await store.lockOrder(tx, tenantId, orderId) : undefined;
    if (row === undefined) {
      throw notFound('order');
    }
    if (requestId !== null && (await store.hasRequest(tx, tenantId, row.id, requestId))) {
      return row;
    }
    refuseChange(row, change);
    const at = timeAfter(row.status_changed_at);
    await store.writeStatus(tx, changeRow(tenantId, row, { ...change, at, requestId }), {
      ready_by: change.ready_by === undefined ? undefined : new Date(change.ready_by),
      cancel_reason: change.reason,
    });
    await record({
      tenantId,
      credentialId: row.credential_id,
      type: 'order.status_changed',
      occurredAt: at,
      data: { order_id: row.id, external_order_id: row.external_order_id, status: change.status },
      subject: { type: 'order', id: row.id, external_id: row.external_order_id },
    });
    return { ...row, status: change.status, status_changed_at: at };
  });
}

/**
 * Refuses a change that is not allowed.
 * @throws ApiError 409 if the order does not have the expected status, or cannot change to the new status
 */
function refuseChange(row: store.MovableOrder, { status, expected_status }: StatusChange): void {
  const stored = row.status as OrderStatus;
  if (expected_status !== undefined && expected_status !== stored) {
    throw apiError(
      'invalid_status_transition',
      `The order is ${stored}, not ${expected_status}. Read the order again.`,
    );
  }
  if (!mayFollow(stored, status, row.order_type as OrderType)) {
    throw apiError('invalid_status_transition', `The order is ${stored}: it cannot become ${status}.`);
  }
}

function changeRow(
  tenantId: number,
  row: store.MovableOrder,
  { at, requestId, status, by }: ChangeBy & { at: Date; requestId: string | null },
): store.NewStatusChange {
  return {
    tenant_id: tenantId,
    order_id: row.id,
    id: newIdAt(at),
    status_before: row.status,
    status,
    changed_at: at,
    actor_type: by.type,
    actor_id: by.id,
    request_id: requestId,
  };
}
