import type { Credentials } from '../credentials/credentials.ts';
import type { Database, Tx } from '../db/database.ts';
import type { LongList } from '../http/list.ts';
import { countDeliveries, type DeliveryCounts } from './delivery-counts-store.ts';
import { insertEvents } from './delivery-store.ts';
import { type Happening, type LocalDelivery, PreparedEvent } from './prepared-event.ts';
import type { Attempt, CredentialDeliveries, Delivery, DeliveryStatus } from './schema.ts';
import * as store from './store.ts';

export type { EventType } from './event-types.ts';
export type { Happening, LocalDelivery, PreparedEvent } from './prepared-event.ts';
export type { FeedEntry, FeedPage } from './schema.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';

/** Where business folders leave their events. */
export interface EventLog {
  prepare(): PreparedEvent;
  /** Records the events of several causes, of any tenants, in the one transaction of all of them. On one node alone. */
  recordAll(tx: Tx, events: { event: PreparedEvent; happening: Happening }[]): Promise<void>;
}

/** @param deliveries null in a process that sends nothing: other processes find its events */
export function createEventLog(deliveries: LocalDelivery | null): EventLog {
  return {
    prepare: () => new PreparedEvent(deliveries),
    async recordAll(tx, events) {
      if (events.length === 0) {
        return;
      }
      const counts = new Map<string, number>();
      const drafts = events.map(({ event, happening }) => {
        const ahead = counts.get(happening.credentialId) ?? 0;
        counts.set(happening.credentialId, ahead + 1);
        return { event, draft: event.draft(happening, ahead) };
      });
      const targets = await insertEvents(
        tx,
        drafts.map(({ draft }) => draft),
      );
      drafts.forEach(({ event, draft }) => event.written(draft, targets.get(draft.id) ?? null));
    },
  };
}

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
