import type { Database } from '#platform/db/database.ts';
import type { LongList } from '#platform/http/list.ts';
import { attemptsShape, type DeliveryStatus } from '../events/events.ts';
import * as store from './list-store.ts';
import type { Delivery } from './schema.ts';

export { deliveryHeaders, verifySignature } from './signature.ts';

/** The tenant's deliveries, newest first. */
export function listDeliveries(
  db: Database,
  tenantId: number,
  status: DeliveryStatus | undefined,
): LongList<store.DeliveryRow> {
  return {
    readBatch: (afterId, limit) => store.readDeliveries(db, tenantId, status, afterId, limit),
    readPage: (offset, limit) => store.readDeliveryPage(db, tenantId, status, offset, limit),
  };
}

/** As staff see it. An event has one delivery, so both go by one id. */
export function deliveryShape(row: store.DeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.type,
    event_id: row.id,
    status: row.delivery_status as DeliveryStatus,
    attempts: attemptsShape(row.attempts),
    created_at: row.created_at.toISOString(),
  };
}
