import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

export type NamedKind =
  | 'user'
  | 'display'
  | 'credential'
  | 'channel'
  | 'rate_plan'
  | 'room_type'
  | 'reservation'
  | 'dish';

/** For a dish, `id` is the sku. */
interface NamedRow {
  kind: NamedKind;
  id: string;
  name: string;
}

/** Returns the names of all rows of the tenant that have one of the ids, and of all dishes that have one of the skus. */
export async function readNames(
  db: Database,
  tenantId: number,
  { ids, skus }: { ids: string[]; skus: string[] },
): Promise<NamedRow[]> {
  const isNamed = sql`tenant_id = ${tenantId} AND id = ANY (${ids}::uuid[])`;
  const { rows } = await sql<NamedRow>`
    SELECT 'user' AS kind, id::text, coalesce(name, email) AS name FROM app_user WHERE ${isNamed}
    UNION ALL SELECT 'display', id::text, label FROM display WHERE ${isNamed}
    UNION ALL SELECT 'credential', id::text, label FROM credential WHERE ${isNamed}
    UNION ALL SELECT 'channel', id::text, source FROM channel WHERE ${isNamed}
    UNION ALL SELECT 'rate_plan', id::text, (
      SELECT t.name FROM room_type AS t WHERE t.tenant_id = ${tenantId} AND t.id = rate_plan.room_type_id
    ) || ' / ' || name FROM rate_plan WHERE ${isNamed}
    UNION ALL SELECT 'room_type', id::text, name FROM room_type WHERE ${isNamed}
    UNION ALL SELECT 'reservation', id::text, guest_name FROM reservation WHERE ${isNamed}
    UNION ALL SELECT 'dish', sku, name FROM dish WHERE tenant_id = ${tenantId} AND sku = ANY (${skus}::text[])
  `.execute(db);
  return rows;
}
