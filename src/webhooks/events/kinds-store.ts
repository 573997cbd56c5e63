import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import { EVENT_TYPES, type EventType } from './event-types.ts';

/** Filter of the events of a tenant. A missing field excludes no event. A filter by an unknown credential selects no event. */
export interface EventRange {
  tenantId: number;
  credentialId?: string | undefined;
  type?: EventType | undefined;
  /** Smallest id that the range includes. */
  fromId?: string | undefined;
  /** End of the range. The range has only ids that are smaller than this id. */
  beforeId?: string | undefined;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Selects ids of events of the range. For each pair of a credential and a type, selects the newest `limit` events. If a caller puts a LIMIT
 * without an ORDER BY around this query, PostgreSQL ends the query as soon as it has enough rows.
 *
 * A query for a rare type must not read the events of all other types. So PostgreSQL must use the index `event_by_kind`. Its columns are
 * the tenant, the credential, the type and the id. To make PostgreSQL use this index, the conditions compare the credential, the type and
 * the id as one row value. No other index fits such a comparison. With the condition `type = …`, PostgreSQL could choose an index without
 * the type, and read all events of the tenant.
 */
export function idsOfKinds(range: EventRange, limit: number): RawBuilder<{ id: string }> {
  const { tenantId, credentialId, type, fromId = FIRST_ID, beforeId = LAST_ID } = range;
  const credentials =
    credentialId === undefined
      ? sql`ARRAY(SELECT id FROM credential WHERE tenant_id = ${tenantId})`
      : sql`ARRAY[${credentialId}::uuid]`;
  const types = type === undefined ? [...EVENT_TYPES] : [type];
  return sql<{ id: string }>`
    SELECT found.id
    FROM unnest(${credentials}) AS partner (credential_id) CROSS JOIN unnest(${types}::text[]) AS kind (type)
    CROSS JOIN LATERAL (
      SELECT id FROM event
      WHERE tenant_id = ${tenantId}
        AND (credential_id, type, id) >= (partner.credential_id, kind.type, ${fromId}::uuid)
        AND (credential_id, type, id) < (partner.credential_id, kind.type, ${beforeId}::uuid)
      ORDER BY credential_id DESC, type DESC, id DESC LIMIT ${limit}
    ) AS found`;
}

/** Reads the ids of at most `limit` events of the range, in no particular order. */
export async function readIdsOfKinds(db: Database, range: EventRange, limit: number): Promise<string[]> {
  const { rows } = await executeByIndex(
    db,
    sql<{ id: string }>`SELECT id FROM (${idsOfKinds(range, limit)}) AS passing LIMIT ${limit}`,
  );
  return rows.map(({ id }) => id);
}
