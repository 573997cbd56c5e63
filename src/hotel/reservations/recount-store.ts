import { sql } from 'kysely';
import type { Db } from '#platform/db/database.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { HOLDING_STATUSES } from './reservation-status.ts';

/** Night whose counter differs from the number of reservations that hold the night. */
export interface NightDifference {
  room_type_id: string;
  date: DateText;
  /** Number of held rooms according to the night counter. It is 0 if the night has no counter. */
  held: number;
  /** Number of reservations that hold the night. */
  counted: number;
}

export interface Recount {
  /** Number of compared nights. */
  nights: number;
  differences: NightDifference[];
}

/**
 * Compares all night counters of the tenant with its reservations, in one snapshot. The statement generates the days as timestamps without
 * a time zone. With a time zone, the statement could skip a day on which the clocks change at midnight.
 */
export async function recount(db: Db, tenantId: number): Promise<Recount> {
  const { rows } = await sql<NightDifference & { nights: number }>`
    WITH counted AS (
      SELECT room_type_id, day::date AS date, count(*)::int AS rooms
      FROM reservation, generate_series(check_in::timestamp, check_out - interval '1 day', interval '1 day') AS day
      WHERE tenant_id = ${tenantId} AND status = ANY (${[...HOLDING_STATUSES]})
      GROUP BY room_type_id, day
    ), kept AS (
      SELECT room_type_id, date, held FROM night WHERE tenant_id = ${tenantId}
    ), compared AS (
      SELECT room_type_id, date, coalesce(held, 0) AS held, coalesce(rooms, 0) AS counted
      FROM kept FULL JOIN counted USING (room_type_id, date)
    )
    SELECT (SELECT count(*) FROM compared) AS nights, room_type_id, date, held, counted
    FROM (SELECT 1) AS always LEFT JOIN compared ON held <> counted
    ORDER BY room_type_id, date
  `.execute(db);
  return {
    nights: rows[0]?.nights ?? 0,
    differences: rows
      .filter((row) => row.room_type_id !== null)
      .map(({ room_type_id, date, held, counted }) => ({ room_type_id, date, held, counted })),
  };
}
