import type { Database, Tx } from '../db/database.ts';
import type { LongList } from '../http/list.ts';
import type { Attempt, Delivery, DeliveryStatus, EventType } from './schema.ts';
import * as store from './store.ts';

export { verifySignature } from './signature.ts';

/** What happened, to be told to the partner whose order or reservation it is. */
export interface Happening {
  /** Of the event, made before the transaction: a second run of it after a lost answer writes the same one. */
  eventId: string;
  tenantId: number;
  credentialId: string;
  type: EventType;
  occurredAt: Date;
  /** Identifiers and the new status, nothing more (contract §6). */
  data: Record<string, string>;
}

/** Where business folders leave their events. */
export interface EventLog {
  /** Writes the event in the transaction of its cause: both are there or neither is (decision 32). */
  record(tx: Tx, happening: Happening): Promise<void>;
  /** Whether the event is there already: then its cause has happened, and only the answer to the COMMIT was lost. */
  isRecorded(tx: Tx, tenantId: number, eventId: string): Promise<boolean>;
  /** To be called once that transaction is committed: delivery begins now rather than at the next scan. */
  committed(): void;
}

/** @param wake called after each commit that wrote an event; does nothing in a process that delivers nothing */
export function createEventLog(wake: () => void): EventLog {
  return {
    async record(tx, { eventId, tenantId, credentialId, type, occurredAt, data }) {
      const body = JSON.stringify({ event: type, event_id: eventId, occurred_at: occurredAt.toISOString(), data });
      await store.insertEvent(tx, { tenantId, id: eventId, credentialId, type, body, createdAt: occurredAt });
    },
    isRecorded: (tx, tenantId, eventId) => store.hasEvent(tx, tenantId, eventId),
    committed: wake,
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
    attempts: (row.attempts as Attempt[]).map(attemptShape),
    created_at: row.created_at.toISOString(),
  };
}

/** PostgreSQL keeps the keys of an attempt in an order of its own, and its times with microseconds. */
function attemptShape({ at, http_status, duration_ms, error }: Attempt): Attempt {
  return { at: new Date(at).toISOString(), http_status, duration_ms, error };
}
