import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

/** Kinds of rows that an audit entry names. */
export const NAMED_KINDS = [
  'user',
  'display',
  'credential',
  'channel',
  'rate_plan',
  'room_type',
  'reservation',
] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];

/**
 * Reads the names of rows of the tenant by their ids, with one statement for all kinds. A person without a name has the e-mail address as
 * name, and a rate plan has the name of its room type before its own.
 * @returns the names by id. An id that the tenant does not have is missing.
 */
export async function readNames(
  db: Database,
  tenantId: number,
  ids: Record<NamedKind, string[]>,
): Promise<Map<string, string>> {
  const areOf = (kind: NamedKind) => sql`tenant_id = ${tenantId} AND id = ANY (${ids[kind]}::uuid[])`;
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT id, coalesce(name, email) AS name FROM app_user WHERE ${areOf('user')}
    UNION ALL SELECT id, label FROM display WHERE ${areOf('display')}
    UNION ALL SELECT id, label FROM credential WHERE ${areOf('credential')}
    UNION ALL SELECT id, source FROM channel WHERE ${areOf('channel')}
    UNION ALL SELECT id, (
      SELECT t.name FROM room_type AS t WHERE t.tenant_id = ${tenantId} AND t.id = rate_plan.room_type_id
    ) || ' / ' || name FROM rate_plan WHERE ${areOf('rate_plan')}
    UNION ALL SELECT id, name FROM room_type WHERE ${areOf('room_type')}
    UNION ALL SELECT id, guest_name FROM reservation WHERE ${areOf('reservation')}
  `.execute(db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
