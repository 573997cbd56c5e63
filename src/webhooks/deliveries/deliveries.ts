import type { Database } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import { attemptsShape, type DeliveryStatus } from '../events/events.ts';
import type { DeliveryRow } from './list-store.ts';
import type { Delivery } from './schema.ts';
import { stopBatch } from './stop-store.ts';

export { listDeliveries } from './list-store.ts';
export { WebhookRegister, WebhookRegisterResponse } from './schema.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';
export { requireWebhookUrl } from './webhook-url.ts';

/**
 * Stops the pending deliveries of a credential whose webhook URL was removed. Deliveries of events from now on are not stopped, because the
 * credential may have a new URL by then. If the process dies meanwhile, the next claim stops the rest, as long as there is no new URL.
 */
export async function stopPendingDeliveries(db: Database, tenantId: number, credentialId: string): Promise<void> {
  const beforeId = newId();
  let stopped: number;
  do {
    stopped = await stopBatch(db, { tenantId, credentialId, beforeId });
  } while (stopped > 0);
}

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
