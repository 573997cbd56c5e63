import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import type { KeysetList } from '#platform/db/keyset-list.ts';
import type { DateText } from '#platform/lib/dates.ts';

/** Night on which more rooms are held than the room type has. */
export interface OversoldNight {
  /**
   * Key of the night in the list, which is the room type and the date, separated by a space. If the list is read in batches, each batch
   * begins after the key of the last night of the previous batch.
   */
  id: string;
  room_type_id: string;
  date: DateText;
  capacity: number;
  held: number;
}

/**
 * Returns the list of oversold nights from the date `from` on, sorted by room type and date. Nights of inactive room types are in the list
 * too, because their stays still need rooms.
 *
 * For each row of `room_type`, an inner query reads the night counters from the table `night` by the primary key, from the date `from` on.
 * PostgreSQL runs the inner query separately because of its `ORDER BY date`. Without the `ORDER BY`, PostgreSQL might merge the inner query
 * into the outer query, join the two tables in another way, and read more counters.
 */
export function listOversoldNights(db: Database, tenantId: number, from: DateText): KeysetList<OversoldNight> {
  const nightsOf = (condition: RawBuilder<unknown>, range: RawBuilder<unknown>) => sql<OversoldNight>`
    SELECT r.id || ' ' || n.date AS id, r.id AS room_type_id, n.date, r.physical_capacity AS capacity, n.held
    FROM room_type AS r CROSS JOIN LATERAL (
      SELECT date, held FROM night
      WHERE tenant_id = ${tenantId} AND room_type_id = r.id AND date >= ${from} AND held > r.physical_capacity ORDER BY date
    ) AS n
    WHERE r.tenant_id = ${tenantId} AND ${condition} ORDER BY r.id, n.date ${range}
  `;
  return {
    async readBatch(afterId, limit) {
      const [roomTypeId, date] = afterId?.split(' ') ?? [];
      const condition =
        afterId === null ? sql`true` : sql`r.id >= ${roomTypeId} AND (r.id > ${roomTypeId} OR n.date > ${date})`;
      return (await nightsOf(condition, sql`LIMIT ${limit}`).execute(db)).rows;
    },
    async readPage(offset, limit) {
      const { rows } = await sql<{ count: number }>`
        SELECT count(*) FROM (${nightsOf(sql`true`, sql``)}) AS listed
      `.execute(db);
      const results = await nightsOf(sql`true`, sql`LIMIT ${limit} OFFSET ${offset}`).execute(db);
      return { count: rows[0]?.count ?? 0, results: results.rows };
    },
  };
}
