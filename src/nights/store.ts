import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import type { DateText } from '../lib/dates.ts';

/** One room more (+1) or less (−1) held on a night. */
export interface NightChange {
  roomTypeId: string;
  date: DateText;
  change: number;
}

/**
 * Changes the counters of many nights in one statement and in the order given, in which every writer locks them. It makes rows
 * that are missing. With a capacity, a night that is full is passed over: fewer rows come back than were asked for. (The arm
 * that makes a row does not look at the capacity: a capacity of 0 must be refused before.)
 *
 * Not a range UPDATE: that locks in the order the rows lie on disk, and two stays that overlap deadlock.
 * @returns the rooms now held on each night that was changed
 */
export async function changeHeld(
  tx: Tx,
  tenantId: number,
  changes: NightChange[],
  capacity: number | null,
): Promise<number[]> {
  const values = changes.map(
    ({ roomTypeId, date, change }) => sql`(${tenantId}::bigint, ${roomTypeId}::uuid, ${date}::date, ${change}::int)`,
  );
  const { rows } = await sql<{ held: number }>`
    INSERT INTO night AS n (tenant_id, room_type_id, date, held) VALUES ${sql.join(values)}
    ON CONFLICT (tenant_id, room_type_id, date) DO UPDATE SET held = n.held + excluded.held
    WHERE ${capacity}::int IS NULL OR n.held + excluded.held <= ${capacity}::int
    RETURNING held
  `.execute(tx);
  return rows.map((row) => row.held);
}

/** Nights on which at least one room is held. */
export async function readHeld(
  db: Database | Tx,
  tenantId: number,
  roomTypeId: string,
  from: DateText,
  until: DateText,
): Promise<{ date: DateText; held: number }[]> {
  return await db
    .selectFrom('night')
    .select(['date', 'held'])
    .where('tenant_id', '=', tenantId)
    .where('room_type_id', '=', roomTypeId)
    .where('date', '>=', from)
    .where('date', '<', until)
    .execute();
}

/** A night whose counter is not what the reservations say. */
export interface NightDifference {
  room_type_id: string;
  date: DateText;
  held: number;
  counted: number;
}

/**
 * Counts every night of the tenant again from its reservations, in one snapshot. Days are stepped through without a time zone:
 * in the database's own, midnight may be missing on some days, and a night with it.
 */
export async function recount(
  db: Database,
  tenantId: number,
  holdingStatuses: readonly string[],
): Promise<{ nights: number; differences: NightDifference[] }> {
  const { rows } = await sql<NightDifference & { nights: number }>`
    WITH counted AS (
      SELECT room_type_id, day::date AS date, count(*)::int AS rooms
      FROM reservation, generate_series(check_in::timestamp, check_out - interval '1 day', interval '1 day') AS day
      WHERE tenant_id = ${tenantId} AND status = ANY (${[...holdingStatuses]})
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
