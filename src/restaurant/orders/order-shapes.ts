import type { Caller } from '#access/credentials/credentials.ts';
import { timeOf } from '#platform/lib/ids.ts';
import { callNumberOf } from '#platform/lib/natural-id.ts';
import type { OrderStatus, OrderType } from './order-status.ts';
import type { OrderCreate, OrderResponse } from './schema.ts';
import type { StaffOrder } from './staff-schema.ts';
import type { NewOrder, OrderRow, OrderSummary } from './store.ts';

/** Returns the row of a new order. */
export function orderRow(
  { tenantId, credentialId, currency }: Caller,
  input: OrderCreate,
  made: { id: string; lines: string; total: string },
): NewOrder {
  return {
    tenant_id: tenantId,
    id: made.id,
    credential_id: credentialId,
    external_order_id: input.external_order_id,
    status: 'pending',
    order_type: input.order_type ?? 'delivery',
    customer_name: input.customer?.name ?? null,
    customer_phone: input.customer?.phone ?? null,
    delivery_address: input.delivery_address ?? null,
    notes: input.notes ?? null,
    lines: made.lines,
    total: made.total,
    currency,
    // The time is the one in the id. So a list of the orders of a period can compare ids instead of times.
    created_at: timeOf(made.id),
  };
}

export function partnerShape(row: OrderSummary): OrderResponse {
  return {
    success: true,
    order_id: row.id,
    external_order_id: row.external_order_id,
    status: row.status as OrderStatus,
  };
}

/**
 * Returns an order as the JSON of a `StaffOrder`. The stored JSON of its lines is copied without parsing it.
 * @param history if it is undefined, the JSON has no history
 */
export function staffText(row: OrderRow, history?: StaffOrder['history']): string {
  const { beforeLines, afterLines } = staffParts(row);
  const end = JSON.stringify({ ...afterLines, history });
  return `${JSON.stringify(beforeLines).slice(0, -1)},"lines":${row.lines},${end.slice(1)}`;
}

function staffParts(row: OrderRow) {
  const beforeLines = {
    order_id: row.id,
    external_order_id: row.external_order_id,
    status: row.status as OrderStatus,
    order_type: row.order_type as OrderType,
    customer: { name: row.customer_name, phone: row.customer_phone },
    delivery_address: row.delivery_address,
    notes: row.notes,
  };
  const afterLines = {
    total: row.total,
    currency: row.currency,
    created_at: row.created_at.toISOString(),
    number: callNumberOf(row.id),
    credential_id: row.credential_id,
    credential_label: row.credential_label,
    status_changed_at: row.status_changed_at?.toISOString() ?? null,
    ready_by: row.ready_by?.toISOString() ?? null,
    cancel_reason: row.status === 'cancelled' ? row.cancel_reason : null,
  };
  return { beforeLines, afterLines } satisfies {
    beforeLines: Partial<StaffOrder>;
    afterLines: Omit<StaffOrder, 'lines' | 'history' | keyof typeof beforeLines>;
  };
}
