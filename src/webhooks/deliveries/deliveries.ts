/** Brings events to receivers: claims, places, signing, sending, retries, outcomes. */
import type { Database } from '#platform/db/database.ts';
import { orNotFound } from '#platform/errors.ts';
import { readPart } from '#platform/http/keyset-page.ts';
import { readBound, readIds } from '#platform/http/search-query.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { attemptsShape, type DeliveryStatus } from '../events/events.ts';
import { FIXED_HEADERS } from './attempt.ts';
import type { Delivery, DeliveryQuery } from './schema.ts';
import { unsignedHeaders } from './signature.ts';
import * as store from './store.ts';

export { WebhookRegister, WebhookRegisterResponse } from './schema.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';
export { readWebhookUrl } from './webhook-url.ts';

/**
 * Stops the pending deliveries of a credential whose webhook URL was removed, but not those of later events, because the credential may have
 * a new URL by then. If the process dies before the end, the next claim stops the rest, unless the credential has a new URL.
 */
export async function stopPendingDeliveries(db: Database, tenantId: number, credentialId: string): Promise<void> {
  const beforeId = newId();
  while ((await store.stopBatch(db, tenantId, credentialId, beforeId)) > 0);
}

/** @throws ApiError 400 `invalid_request` if `ids` is not a list of ids, or `after` not a cursor of this list */
export async function listDeliveries(db: Database, tenantId: number, query: DeliveryQuery) {
  const { ids, created_from, created_to, ...filter } = query;
  const list = store.listDeliveries(tenantId, {
    ...filter,
    ids: ids === undefined ? undefined : readIds(ids),
    createdFromMs: created_from === undefined ? undefined : readBound(created_from),
    createdToMs: created_to === undefined ? undefined : readBound(created_to),
  });
  return await readPart(db, list, query);
}

/** @throws ApiError with status 404 and the general code `error` if the tenant has no delivery with this id */
export async function readDelivery(db: Database, tenantId: number, id: string, headerBrand: string) {
  const row = orNotFound(isUuid(id) ? await store.findDelivery(db, tenantId, id) : undefined, 'delivery');
  const { attempts, ...delivery } = deliveryShape(row);
  // The timestamp is null or missing if the last attempt signed no request, or has no outcome.
  const { timestamp: timestampSeconds = null } = (row.attempts as { timestamp?: number | null }[]).at(-1) ?? {};
  return {
    ...delivery,
    attempts: attempts.map((attempt, index) => ({ ...attempt, answer: row.answers?.[index + 1] ?? null })),
    body: row.body,
    headers: { ...FIXED_HEADERS, ...unsignedHeaders(headerBrand, { eventId: row.id, timestampSeconds }) },
  };
}

/** An event has at most one delivery, so the id of the delivery is the id of the event. */
export function deliveryShape(row: store.DeliveryRow): Delivery {
  const { id, type, status, created_at, credential_id, credential_label, next_attempt_at, subject } = row;
  return {
    id,
    event: type,
    event_id: id,
    status: status as DeliveryStatus,
    attempts: attemptsShape(row),
    created_at: created_at.toISOString(),
    credential_id,
    credential_label,
    next_attempt_at: status === 'pending' ? next_attempt_at.toISOString() : null,
    subject,
  };
}
