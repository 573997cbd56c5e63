import type { Credentials } from '../credentials/credentials.ts';
import type { Database, Tx } from '../db/database.ts';
import type { LongList } from '../http/list.ts';
import { newId } from '../lib/ids.ts';
import { countDeliveries, type DeliveryCounts } from './delivery-counts-store.ts';
import { hasEvent, insertEvent } from './delivery-store.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import type { EventType } from './event-types.ts';
import type { Attempt, CredentialDeliveries, Delivery, DeliveryStatus } from './schema.ts';
import * as store from './store.ts';

export type { EventType } from './event-types.ts';
export type { FeedEntry, FeedPage } from './schema.ts';
export { deliveryHeaders, verifySignature } from './signature.ts';

/** What happened, to be told to the partner whose order or reservation it is. */
export interface Happening {
  tenantId: number;
  credentialId: string;
  type: EventType;
  occurredAt: Date;
  /** Identifiers and the new status, nothing more (contract §6). */
  data: Record<string, string>;
}

/**
 * One event of a transaction, prepared before it: its id stays the same when the transaction runs a second time after a lost
 * answer.
 */
export interface PreparedEvent {
  /** Writes the event in the transaction of its cause: both are there or neither is (decision 32). */
  record(tx: Tx, happening: Happening): Promise<void>;
  /** Whether the event is there already: then its cause has happened, and only the answer to the COMMIT was lost. */
  isRecorded(tx: Tx, tenantId: number): Promise<boolean>;
  /** To be called once the transaction is committed: delivery begins now. */
  committed(): void;
}

/** Where business folders leave their events. */
export interface EventLog {
  prepare(): PreparedEvent;
}

/** The deliveries of this process, where it has some. */
export type LocalDelivery = Pick<DeliveryWorker, 'offerLease' | 'begin' | 'wake'>;

/** @param deliveries null in a process that sends nothing: other processes find its events */
export function createEventLog(deliveries: LocalDelivery | null): EventLog {
  return {
    prepare() {
      const id = newId();
      let afterCommit = () => {};
      return {
        async record(tx, { type, occurredAt, data, ...whose }) {
          const body = JSON.stringify({ event: type, event_id: id, occurred_at: occurredAt.toISOString(), data });
          const event = { ...whose, id, type, body, createdAt: occurredAt };
          const lease = deliveries?.offerLease(whose.credentialId) ?? null;
          const target = await insertEvent(tx, event, lease);
          afterCommit = () => {};
          if (target !== null && lease !== null) {
            const delivery = { ...event, ...target, eventId: id, attempt: 1, lease, waitedSeconds: 0 };
            afterCommit = () => deliveries?.begin(delivery);
          } else if (target !== null) {
            afterCommit = () => deliveries?.wake({ ...whose, webhookUrl: target.webhookUrl, isActive: true });
          }
        },
        isRecorded: (tx, tenantId) => hasEvent(tx, tenantId, id),
        committed: () => afterCommit(),
      };
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
