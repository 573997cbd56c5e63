import type { Database, Db, Tx } from '#platform/db/database.ts';
import type { LongList } from '#platform/http/list.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Actor, AuditAction, AuditEntry } from './schema.ts';
import * as store from './store.ts';

export type { Actor } from './schema.ts';

/** What an entry says beside who and when. `details` never holds a secret. */
export interface NewAuditEntry {
  action: AuditAction;
  subject: string;
  details: Record<string, unknown>;
}

/** Writes one entry down. */
export type WriteAuditEntry = (db: Db, entry: NewAuditEntry) => Promise<void>;

/**
 * Prepares an entry of the audit trail. Its id and time are made now, before the transaction of its entry, so that a second run of
 * that transaction writes the same entry.
 */
export function prepareAudit(actor: Actor): WriteAuditEntry {
  const id = newId();
  const at = new Date();
  return async (db, { action, subject, details }) => {
    await store.insertEntry(db, {
      tenant_id: actor.tenantId,
      id,
      at,
      actor_type: actor.type,
      actor_id: actor.id,
      action,
      subject,
      details: JSON.stringify(details),
    });
  };
}

/**
 * Writes entries down within their transaction, where only the transaction finds out what has to be done. A second run of it writes
 * what the first one wrote only if that was rolled back, so the ids and times may be new.
 */
export async function writeAuditEntries(tx: Tx, actor: Actor, entries: NewAuditEntry[]): Promise<void> {
  for (const entry of entries) {
    await prepareAudit(actor)(tx, entry);
  }
}

/** An entry may hold the thousand rates of one call. */
const ENTRIES_A_BATCH = 50;

/** The tenant's audit trail, newest first. */
export function listAudit(db: Database, tenantId: number): LongList<store.AuditRow> {
  return { batchSize: ENTRIES_A_BATCH, ...store.listEntries(db, tenantId) };
}

export function auditShape(row: store.AuditRow): AuditEntry {
  return {
    id: row.id,
    at: row.at.toISOString(),
    actor: { type: row.actor_type as Actor['type'], id: row.actor_id },
    action: row.action,
    subject: row.subject,
    details: row.details as Record<string, unknown>,
  };
}
