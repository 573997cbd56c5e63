import { attemptsShape, type DeliveryStatus } from '../events/events.ts';
import type { DeliveryRow } from './list-store.ts';
import type { Delivery } from './schema.ts';

export { listDeliveries } from './list-store.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';

/** As staff see it. An event has one delivery, so both go by one id. */
export function deliveryShape(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.type,
    event_id: row.id,
    status: row.delivery_status as DeliveryStatus,
    attempts: attemptsShape(row.attempts),
    created_at: row.created_at.toISOString(),
  };
}
