import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import type { StoredAttempts } from './attempts.ts';
import { type EventRange, idsOfKinds } from './kinds-store.ts';

/** Filter of the event list for staff. A missing field excludes no event. */
export interface EventFilter extends EventRange {
  ids?: string[] | undefined;
}

export interface ListedEvent {
  id: string;
  credential_id: string;
  body: string;
  /** Delivery of the event. Null: no webhook URL was registered when the event was written. */
  delivery: ({ status: string } & StoredAttempts) | null;
}

type JoinedRow = Omit<ListedEvent, 'delivery'> & StoredAttempts & { status: string | null };

/**
 * Reads the newest events that pass the filter, newest first, with their deliveries. An event has only ids and a status (contract §6), so
 * its body has at most about 1,200 bytes. Therefore `limit` is enough to bound the size of the response.
 */
export async function readNewest(db: Database, filter: EventFilter, limit: number): Promise<ListedEvent[]> {
  const { tenantId } = filter;
  const statement = sql<JoinedRow>`
    SELECT e.id, e.credential_id, e.body, d.status, d.attempts, d.attempt_count, d.claimed_at
    FROM (SELECT id FROM (${newestIds(filter, limit)}) AS passing ORDER BY id DESC LIMIT ${limit}) AS newest
    CROSS JOIN LATERAL (
      SELECT id, credential_id, body FROM event WHERE tenant_id = ${tenantId} AND id = newest.id LIMIT 1
    ) AS e
    LEFT JOIN LATERAL (
      SELECT status, attempts, attempt_count, claimed_at FROM delivery WHERE tenant_id = ${tenantId} AND id = newest.id LIMIT 1
    ) AS d ON true
    ORDER BY newest.id DESC
  `;
  const { rows } = await executeByIndex(db, statement);
  return rows.map(({ status, attempts, attempt_count, claimed_at, ...event }) => ({
    ...event,
    delivery: status === null ? null : { status, attempts, attempt_count, claimed_at },
  }));
}

/**
 * Selects ids of events that pass the filter, including the newest `limit` of these events. The caller must sort the ids and apply the
 * limit again, because the result may have more ids. If the filter has only a credential, the result may have `limit` events of each type.
 * If the filter has only a type, the result may have `limit` events of each credential.
 */
function newestIds(filter: EventFilter, limit: number): RawBuilder<{ id: string }> {
  const { tenantId, credentialId, type, ids, beforeId } = filter;
  if (ids === undefined && (credentialId !== undefined || type !== undefined)) {
    return idsOfKinds(filter, limit);
  }
  const conditions = [
    sql`tenant_id = ${tenantId}`,
    ...(ids === undefined ? [] : [sql`id = ANY (${ids}::uuid[])`]),
    ...(credentialId === undefined ? [] : [sql`credential_id = ${credentialId}::uuid`]),
    ...(type === undefined ? [] : [sql`type = ${type}`]),
    ...(beforeId === undefined ? [] : [sql`id < ${beforeId}::uuid`]),
  ];
  return sql`SELECT id FROM event WHERE ${sql.join(conditions, sql` AND `)} ORDER BY id DESC LIMIT ${limit}`;
}

/** Returns true if the tenant has this third-party credential, even if the credential is revoked. */
export async function hasPartner(db: Database, tenantId: number, credentialId: string): Promise<boolean> {
  const found = await db
    .selectFrom('credential')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', credentialId)
    .where('audience', '=', 'third_party')
    .executeTakeFirst();
  return found !== undefined;
}
