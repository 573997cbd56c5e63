import { attemptsShape, type DeliveryStatus } from '../events/events.ts';
import type { DeliveryRow } from './list-store.ts';
import type { Delivery } from './schema.ts';

export { listDeliveries } from './list-store.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';

/** Returns a delivery as the staff API shows it. An event has at most one delivery, so the id of the delivery is the id of the event. */
export function deliveryShape(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.type,
    event_id: row.id,
    status: row.status as DeliveryStatus,
    attempts: attemptsShape(row),
    created_at: row.created_at.toISOString(),
  };
}
