import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, DB } from '#platform/db/database.ts';
import { given, type KeysetList, NEWEST_FIRST } from '#platform/db/keyset-list.ts';
import { firstIdAt } from '#platform/lib/ids.ts';

export type AuditRow = Selectable<DB['audit_entry']>;
export type NewAuditRow = Insertable<DB['audit_entry']>;

/** If an entry with the same id is already stored, an earlier attempt wrote it, so the insert skips it. */
export async function insertEntries(db: Db, entries: NewAuditRow[]): Promise<void> {
  await db
    .insertInto('audit_entry')
    .values(entries)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export interface AuditFilter {
  action?: string | undefined;
  actorId?: string | undefined;
  subject?: string | undefined;
  /** Inclusive start of the time range, in milliseconds of Unix time. */
  fromMs?: number | undefined;
  /** Exclusive end of the time range, in milliseconds of Unix time. */
  toMs?: number | undefined;
}

/** A filter by time searches more ids by this time at each end, because the time in the id of an entry may differ from its time. */
const CLOCK_JUMP_MS = 60_000;

const BY_ACTOR = { column: 'actor_id', type: 'uuid', where: sql`actor_id IS NOT NULL` } as const;

export function listEntries(tenantId: number, filter: AuditFilter): KeysetList<AuditRow> {
  const { action, actorId, subject, fromMs, toMs } = filter;
  return {
    ...NEWEST_FIRST,
    name: 'audit',
    from: sql`audit_entry`,
    ofTenant: sql`tenant_id = ${tenantId}`,
    fromId: fromMs === undefined ? undefined : firstIdAt(Math.max(0, fromMs - CLOCK_JUMP_MS)),
    beforeId: toMs === undefined ? undefined : firstIdAt(toMs + CLOCK_JUMP_MS),
    filters: [...given(fromMs, (ms) => sql`at >= ${new Date(ms)}`), ...given(toMs, (ms) => sql`at < ${new Date(ms)}`)],
    indexed: [
      ...given(subject, (value) => ({ column: 'subject', type: 'text', value }) as const),
      ...given(actorId, (value) => ({ ...BY_ACTOR, value })),
      ...given(action, (value) => ({ column: 'action', type: 'text', value }) as const),
    ],
    row: sql`SELECT * FROM audit_entry WHERE tenant_id = ${tenantId} AND id = page.id`,
  };
}
