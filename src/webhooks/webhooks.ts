import type { Database, Tx } from '../db/database.ts';
import { newId } from '../lib/ids.ts';
import type { LongList } from '../http/list.ts';
import type { Attempt, Delivery, DeliveryStatus, EventType } from './schema.ts';
import * as store from './store.ts';

export { verifySignature } from './signature.ts';

/** What happened, to be told to the partner whose order or reservation it is. */
export interface Happening {
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
  /** To be called once that transaction is committed: delivery begins now rather than at the next scan. */
  committed(): void;
}

/** @param wake called after each commit that wrote an event; does nothing in a process that delivers nothing */
export function createEventLog(wake: () => void): EventLog {
  return {
    async record(tx, { tenantId, credentialId, type, occurredAt, data }) {
      const id = newId();
      const body = JSON.stringify({ event: type, event_id: id, occurred_at: occurredAt.toISOString(), data });
      await store.insertEvent(tx, { tenantId, id, credentialId, type, body, createdAt: occurredAt });
    },
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
    attempts: (row.attempts as Attempt[]).map((attempt) => ({ ...attempt, at: new Date(attempt.at).toISOString() })),
    created_at: row.created_at.toISOString(),
  };
}
