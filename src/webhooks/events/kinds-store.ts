import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import { EVENT_TYPES, type EventType } from './event-types.ts';

/** Events of a tenant. A missing field is no condition. A filter by an unknown credential selects no event. */
export interface EventRange {
  tenantId: number;
  credentialId?: string | undefined;
  type?: EventType | undefined;
  /** Smallest id of the range. */
  fromId?: string | undefined;
  /** Smallest id after the range. */
  beforeId?: string | undefined;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Selects the ids of events, for each credential and each type the newest `limit` of them. A LIMIT around this query stops it early.
 *
 * The order has all columns of the index, and each condition names all of them, so PostgreSQL can read the events only by this index.
 * If the credential and the type were equal to values, PostgreSQL could also read the events of all kinds in the order of their ids, and it
 * would read all events of the tenant if the kind is rare.
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
