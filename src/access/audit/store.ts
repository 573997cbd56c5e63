import type { Insertable, Selectable } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import type { AuditEntry as AuditEntryTable } from '#platform/db/types.ts';

export type AuditRow = Selectable<AuditEntryTable>;
export type NewAuditRow = Insertable<AuditEntryTable>;

/**
 * Inserts audit entries of one tenant. Skips an entry whose id is already stored, because then an earlier attempt wrote the same entry.
 */
export async function insertEntries(db: Db, entries: NewAuditRow[]): Promise<void> {
  await db
    .insertInto('audit_entry')
    .values(entries)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the audit entries of the tenant, newest first. */
export function listEntries(db: Database, tenantId: number): KeysetList<AuditRow> {
  const list = db.selectFrom('audit_entry').where('tenant_id', '=', tenantId);
  return keysetList(db, list, (entries) => entries.selectAll());
}
