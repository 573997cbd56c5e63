import type { Database } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import { stopBatch } from './stop-store.ts';

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
