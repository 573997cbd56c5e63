import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import type { AuditEntry as AuditEntryTable } from '#platform/db/types.ts';

export type AuditRow = Selectable<AuditEntryTable>;

/**
 * Inserts an audit entry. Does nothing if an entry with this id is already stored, because then an earlier attempt wrote the same entry.
 */
export async function insertEntry(db: Db, entry: Insertable<AuditEntryTable>): Promise<void> {
  await db
    .insertInto('audit_entry')
    .values(entry)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the audit entries of the tenant, newest first. */
export function listEntries(db: Database, tenantId: number): KeysetList<AuditRow> {
  const list = db.selectFrom('audit_entry').where('tenant_id', '=', tenantId);
  return keysetList(db, list, (entries) => entries.selectAll());
}

/** Entry about a subject, with the elements of its list that are for one date. */
export interface DatedEntry extends Pick<AuditRow, 'id' | 'at' | 'actor_type' | 'actor_id' | 'action' | 'subject'> {
  /** Elements of `details.entries` whose `date` is the date of the query, in their order. */
  dated: Record<string, unknown>[];
}

/**
 * Reads the newest entries with one of the actions about one of the subjects, the newest first. The database picks the elements for the date,
 * because the list of an entry may have a thousand elements. The inner query has no LIMIT, so the planner uses the index of the subjects.
 */
export async function readDatedEntries(
  db: Db,
  tenantId: number,
  { subjects, actions, date, limit }: { subjects: string[]; actions: string[]; date: string; limit: number },
): Promise<DatedEntry[]> {
  const { rows } = await sql<DatedEntry>`
    SELECT id, at, actor_type, actor_id, action, subject, coalesce((
      SELECT json_agg(element) FROM json_array_elements(details -> 'entries') AS element WHERE element ->> 'date' = ${date}
    ), '[]') AS dated
    FROM audit_entry WHERE tenant_id = ${tenantId} AND id = ANY ((ARRAY(
      SELECT id FROM audit_entry
      WHERE tenant_id = ${tenantId} AND subject = ANY (${subjects}) AND action = ANY (${actions})
      ORDER BY id DESC
    ))[1:${limit}::int])
    ORDER BY id DESC
  `.execute(db);
  return rows;
}
