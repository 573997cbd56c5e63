/** Brings events to receivers: claims, places, signing, sending, retries, outcomes. */
import type { Database } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import { stopBatch } from './store.ts';

export { WebhookRegister, WebhookRegisterResponse } from './schema.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';
export { readWebhookUrl } from './webhook-url.ts';

/**
 * Stops the pending deliveries of a credential whose webhook URL was removed. Does not stop deliveries of events that are written after the
 * call, because the credential may already have a new URL then. If the process dies before the end, the next claim stops the remaining
 * deliveries, unless the credential has a new URL.
 */
export async function stopPendingDeliveries(db: Database, tenantId: number, credentialId: string): Promise<void> {
  const beforeId = newId();
  let stopped: number;
  do {
    stopped = await stopBatch(db, { tenantId, credentialId, beforeId });
  } while (stopped > 0);
}
