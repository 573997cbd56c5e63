import type { Insertable, Selectable } from 'kysely';
import type { Database, Tx } from '#platform/db/database.ts';
import { readPage } from '#platform/db/page.ts';
import type { AuditEntry as AuditEntryTable } from '#platform/db/types.ts';

export type AuditRow = Selectable<AuditEntryTable>;

/** Adds an entry. One that is there already is the same one, written by a try whose answer was lost. */
export async function insertEntry(db: Database | Tx, entry: Insertable<AuditEntryTable>): Promise<void> {
  await db
    .insertInto('audit_entry')
    .values(entry)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The tenant's entries after the given one, newest first. */
export async function readEntries(
  db: Database,
  tenantId: number,
  afterId: string | null,
  limit: number,
): Promise<AuditRow[]> {
  const list = db.selectFrom('audit_entry').selectAll().where('tenant_id', '=', tenantId);
  return await (afterId === null ? list : list.where('id', '<', afterId)).orderBy('id', 'desc').limit(limit).execute();
}

export async function readEntryPage(
  db: Database,
  tenantId: number,
  offset: number,
  limit: number,
): Promise<{ count: number; results: AuditRow[] }> {
  const ids = db.selectFrom('audit_entry').select('id').where('tenant_id', '=', tenantId).orderBy('id', 'desc');
  return await readPage(db, ids, offset, (id) => readEntries(db, tenantId, id, limit));
}
