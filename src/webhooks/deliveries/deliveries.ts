import type { Credentials } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import type { LongList } from '#platform/http/list.ts';
import { countDeliveries, type DeliveryCounts } from './delivery-counts-store.ts';
import type { Attempt, CredentialDeliveries, Delivery, DeliveryStatus } from './schema.ts';
import * as store from './list-store.ts';

export type { EventType } from '../events/event-types.ts';
export type { FeedEntry, FeedPage } from './schema.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';
export {
  createTransactionWithEvents,
  type Happening,
  type LocalDelivery,
  type RecordEvents,
  type TransactionWithEvents,
} from '../events/transaction-with-events.ts';

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

/** PostgreSQL keeps the keys of an attempt in an order of its own, and its times with microseconds. */
export function attemptsShape(attempts: unknown): Attempt[] {
  return (attempts as Attempt[]).map(({ at, http_status, duration_ms, error }) => ({
    at: new Date(at).toISOString(),
    http_status,
    duration_ms,
    error,
  }));
}

/** The tenant's third-party credentials, newest first, each with what its deliveries have come to. */
export async function listCredentialsWithDeliveries(db: Database, credentials: Credentials, tenantId: number) {
  const [all, counts] = await Promise.all([credentials.list(tenantId), countDeliveries(db, tenantId)]);
  const countsById = new Map(counts.map((row) => [row.credential_id, row]));
  return all.map((credential) => ({ ...credential, deliveries: countsShape(countsById.get(credential.id)) }));
}

/** Nothing where the credential was made between the two look-ups. */
function countsShape(row: DeliveryCounts | undefined): CredentialDeliveries {
  return {
    pending: row?.pending ?? 0,
    failed: row?.failed ?? 0,
    last_failed_at: row?.last_failed_at?.toISOString() ?? null,
    oldest_pending_at: row?.oldest_pending_at?.toISOString() ?? null,
  };
}
