import type { ChangeActor } from '#access/actors/actors.ts';
import { apiError, orNotFound } from '#platform/errors.ts';
import { timeAfter } from '#platform/lib/dates.ts';
import { isUuid, newIdAt } from '#platform/lib/ids.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { mayFollow, type OrderStatus, type OrderType } from './order-status.ts';
import type { StatusChange } from './staff-schema.ts';
import * as store from './store.ts';

export interface ChangeBy extends StatusChange {
  by: ChangeActor;
}

/**
 * Changes the status of an order, with its event and its history. A repeat with the request id of an earlier change changes nothing.
 * @throws ApiError 404 (`error`) if the id is unknown, 409 (`invalid_status_transition`) if the order cannot change to this status
 */
export async function setStatus(
  transactionWithEvents: TransactionWithEvents,
  tenantId: number,
  orderId: string,
  change: ChangeBy,
): Promise<store.MovableOrder> {
  const requestId = change.request_id?.toLowerCase() ?? null;
  return await transactionWithEvents(async (tx, record) => {
    const row = orNotFound(isUuid(orderId) ? await store.lockOrder(tx, tenantId, orderId) : undefined, 'order');
    if (requestId !== null && (await store.hasRequest(tx, tenantId, row.id, requestId))) {
      return row;
    }
    refuseChange(row, change);
    const at = timeAfter(row.status_changed_at);
    const changeRow = {
      tenant_id: tenantId,
      order_id: row.id,
      id: newIdAt(at),
      status_before: row.status,
      status: change.status,
      changed_at: at,
      actor_type: change.by.type,
      actor_id: change.by.id,
      request_id: requestId,
    };
    const readyBy = change.ready_by === undefined ? undefined : new Date(change.ready_by);
    await store.writeStatus(tx, changeRow, { ready_by: readyBy, cancel_reason: change.reason });
    await record({
      tenantId,
      credentialId: row.credential_id,
      type: 'order.status_changed',
      occurredAt: at,
      subject: { type: 'order', id: row.id, external_id: row.external_order_id },
      status: change.status,
    });
    return { ...row, status: change.status, status_changed_at: at };
  });
}

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
