/** Brings events to receivers: claims, places, signing, sending, retries, outcomes. */
import type { Database } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import { stopBatch } from './store.ts';

export { WebhookRegister, WebhookRegisterResponse } from './schema.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';
export { readWebhookUrl } from './webhook-url.ts';

/**
 * Stops the pending deliveries of a credential whose webhook URL was removed, but not those of later events, because the credential may have
 * a new URL by then. If the process dies before the end, the next claim stops the rest, unless the credential has a new URL.
 */
export async function stopPendingDeliveries(db: Database, tenantId: number, credentialId: string): Promise<void> {
  const beforeId = newId();
  while ((await stopBatch(db, tenantId, credentialId, beforeId)) > 0);
}
