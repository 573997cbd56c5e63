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
  'dish',
] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];

/** Row that an audit entry names. `id` is the sku for a dish. */
interface NamedRow {
  kind: NamedKind;
  id: string;
  name: string;
}

/**
 * Reads the names of rows of the tenant by their ids, and those of dishes by their skus, with one statement for all kinds. A person without a
 * name has the e-mail address as name, and a rate plan has the name of its room type before its own. A row that the tenant does not have is
 * missing.
 */
export async function readNames(db: Database, tenantId: number, ids: Record<NamedKind, string[]>): Promise<NamedRow[]> {
  const areOf = (kind: NamedKind) => sql`tenant_id = ${tenantId} AND id = ANY (${ids[kind]}::uuid[])`;
  const { rows } = await sql<NamedRow>`
    SELECT 'user' AS kind, id::text, coalesce(name, email) AS name FROM app_user WHERE ${areOf('user')}
    UNION ALL SELECT 'display', id::text, label FROM display WHERE ${areOf('display')}
    UNION ALL SELECT 'credential', id::text, label FROM credential WHERE ${areOf('credential')}
    UNION ALL SELECT 'channel', id::text, source FROM channel WHERE ${areOf('channel')}
    UNION ALL SELECT 'rate_plan', id::text, (
      SELECT t.name FROM room_type AS t WHERE t.tenant_id = ${tenantId} AND t.id = rate_plan.room_type_id
    ) || ' / ' || name FROM rate_plan WHERE ${areOf('rate_plan')}
    UNION ALL SELECT 'room_type', id::text, name FROM room_type WHERE ${areOf('room_type')}
    UNION ALL SELECT 'reservation', id::text, guest_name FROM reservation WHERE ${areOf('reservation')}
    UNION ALL SELECT 'dish', sku, name FROM dish WHERE tenant_id = ${tenantId} AND sku = ANY (${ids.dish}::text[])
  `.execute(db);
  return rows;
}
