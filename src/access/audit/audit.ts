/** The audit trail: who changed what, written in the transaction of the change. */
import type { Db, Tx } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Actor, AuditAction } from './schema.ts';
import * as store from './store.ts';

export { type Actor, type AuditAction, AuditEntry, type AuditSubject } from './schema.ts';
export { type AuditFilter, type AuditRow, listEntries } from './store.ts';

/** Content of an audit entry, without its actor and time. `details` never holds a secret. */
export interface NewAuditEntry {
  action: AuditAction;
  subject: string;
  details: Record<string, unknown>;
}

export type WriteAuditEntry = (db: Db, entry: NewAuditEntry) => Promise<void>;

/** Returns a function that inserts one entry. Called before the transaction, so that a retry inserts no second entry: it has the same id. */
export function prepareAudit(actor: Actor): WriteAuditEntry {
  const id = newId();
  const at = new Date();
  return async (db, entry) => await store.insertEntries(db, [rowOf(actor, id, at, entry)]);
}

/** Inserts entries for changes that are known only during the transaction. A retry of a committed attempt must find no change to make. */
export async function writeAuditEntries(tx: Tx, actor: Actor, entries: NewAuditEntry[]): Promise<void> {
  if (entries.length > 0) {
    const at = new Date();
    await store.insertEntries(
      tx,
      entries.map((entry) => rowOf(actor, newId(), at, entry)),
    );
  }
}

function rowOf(actor: Actor, id: string, at: Date, { action, subject, details }: NewAuditEntry): store.NewAuditRow {
  return {
    tenant_id: actor.tenantId,
    id,
    at,
    actor_type: actor.type,
    actor_id: actor.id,
    action,
    subject,
    details: JSON.stringify(details),
  };
}
