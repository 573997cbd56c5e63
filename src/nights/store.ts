import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import { selectEach } from '../db/select-each.ts';
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

/** A night of a room type. */
export interface Night {
  tenantId: number;
  roomTypeId: string;
  date: DateText;
}

/**
 * Takes rooms on many nights of any tenants (one of the statements that may; on one node alone), in the order in which every writer
 * locks them. As above a night that has not so many left is passed over, and one that has no row yet takes whatever is wanted.
 * @returns the nights that were taken
 */
export async function holdNights(tx: Tx, nights: (Night & { rooms: number })[]): Promise<Night[]> {
  const { rows } = await sql<Night>`
    INSERT INTO night AS n (tenant_id, room_type_id, date, held)
    SELECT "tenantId", "roomTypeId", date, rooms
    FROM json_to_recordset(${JSON.stringify(nights)}) AS wanted ("tenantId" bigint, "roomTypeId" uuid, date date, rooms int)
    ORDER BY "tenantId", "roomTypeId", date
    ON CONFLICT (tenant_id, room_type_id, date) DO UPDATE SET held = n.held + excluded.held
    WHERE n.held + excluded.held <= (
      SELECT physical_capacity FROM room_type WHERE tenant_id = n.tenant_id AND id = n.room_type_id
    )
    RETURNING tenant_id AS "tenantId", room_type_id AS "roomTypeId", date
  `.execute(tx);
  return rows;
}

/** A range of a room type's nights. */
export interface NightRange {
  tenantId: number;
  roomTypeId: string;
  checkIn: DateText;
  checkOut: DateText;
}

const NIGHT_RANGE = { tenantId: 'bigint', roomTypeId: 'uuid', checkIn: 'date', checkOut: 'date' };

/** Counters of a range: that of its night `offsets[n]`, counted from check-in, is `held[n]`. Null: no night has one. */
export interface HeldNights {
  offsets: number[] | null;
  held: number[] | null;
}

/** The counters of many ranges, across tenants where there are several, in their order: two lists for a range are read faster than rows. */
export function readHeld(db: Database, ranges: NightRange[]): Promise<HeldNights[]> {
  return selectEach(
    db,
    NIGHT_RANGE,
    ranges,
    ({ tenantId, roomTypeId, checkIn, checkOut }) => sql<HeldNights>`
      SELECT to_json(array_agg(date - ${checkIn})) AS offsets, to_json(array_agg(held)) AS held FROM night
      WHERE tenant_id = ${tenantId} AND room_type_id = ${roomTypeId} AND date >= ${checkIn} AND date < ${checkOut}
    `,
  );
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
