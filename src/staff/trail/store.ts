import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

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

/** For a dish, `id` is the sku. */
interface NamedRow {
  kind: NamedKind;
  id: string;
  name: string;
}

/** An unknown id or sku has no entry in the result. */
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
