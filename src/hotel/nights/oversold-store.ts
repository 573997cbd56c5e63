import { sql } from 'kysely';
import type { KeysetList } from '#platform/db/keyset-list.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { OversoldNight } from './schema.ts';

/**
 * Returns the list of oversold nights from the date `from` on, also of inactive room types, because their stays still need rooms.
 *
 * PostgreSQL runs the inner query separately because of its `ORDER BY date`. Without it, PostgreSQL might join the two tables in another
 * way, and read more counters.
 */
export function listOversoldNights(tenantId: number, from: DateText): KeysetList<OversoldNight> {
  return {
    name: 'oversold',
    from: sql`room_type AS r CROSS JOIN LATERAL (
      SELECT date, held FROM night WHERE tenant_id = ${tenantId} AND room_type_id = r.id AND date >= ${from}::date ORDER BY date
    ) AS n`,
    ofTenant: sql`r.tenant_id = ${tenantId}`,
    filters: [sql`n.held > r.physical_capacity`],
    key: [
      { name: 'room_type_id', column: sql`r.id`, type: 'uuid' },
      { name: 'date', column: sql`n.date`, type: 'date' },
    ],
    direction: 'ASC',
    row: sql`
      SELECT r.id AS room_type_id, n.date, r.physical_capacity AS capacity, n.held
      FROM room_type AS r JOIN night AS n ON n.tenant_id = r.tenant_id AND n.room_type_id = r.id
      WHERE r.tenant_id = ${tenantId} AND n.tenant_id = ${tenantId} AND r.id = page.room_type_id AND n.date = page.date`,
  };
}
