import { type RawBuilder, sql } from 'kysely';
import type { ChangeActor } from '#access/actors/actors.ts';
import type { Db } from '#platform/db/database.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { Night } from '../nights/nights.ts';
import { coversNight } from './list-store.ts';
import type { NightChangeKind } from './night-schema.ts';
import { HOLDING_STATUSES } from './reservation-status.ts';
import type { ReservationRow } from './store.ts';

const HOLDING = [...HOLDING_STATUSES];

type Holder = Pick<
  ReservationRow,
  'id' | 'natural_id' | 'status' | 'credential_id' | 'external_source' | 'guest_name' | 'check_in' | 'check_out'
>;

export async function readHolders(db: Db, night: Night, limit: number): Promise<Holder[]> {
  const { rows } = await sql<Holder>`
    SELECT id, natural_id, status, credential_id, external_source, guest_name, check_in, check_out FROM reservation
    WHERE tenant_id = ${night.tenant_id} AND id = ANY (ARRAY(${staysNow(night)})) AND status = ANY (${HOLDING})
    ORDER BY id DESC LIMIT ${limit}
  `.execute(db);
  return rows;
}

function staysNow({ tenant_id, room_type_id, date }: Night): RawBuilder<unknown> {
  return sql`
    SELECT id FROM reservation WHERE tenant_id = ${tenant_id} AND room_type_id = ${room_type_id}::uuid AND ${coversNight(date)}
  `;
}

export interface NightChange {
  id: string;
  at: Date;
  what: NightChangeKind;
  actor_type: ChangeActor['type'];
  actor_id: string | null;
  external_source: string | null;
  /** -1, 0 or 1 room that the change added to the held rooms of the night. */
  added: number;
}

/**
 * Reads the newest bookings and changes of stays by which a stay began or ceased to hold the night, and the moves of stays that held it
 * before and after.
 *
 * Only a booking by the hotel itself is stored like a change. For another booking, the first change has the booked status, dates and room
 * type, because a change also stores the values before it.
 */
export async function readStayChanges(db: Db, night: Night, limit: number): Promise<NightChange[]> {
  const { tenant_id: tenantId, room_type_id: roomTypeId, date } = night;
  const { rows } = await sql<NightChange>`
    WITH stay AS (
      ${staysNow(night)} UNION SELECT reservation_id FROM reservation_change
      WHERE tenant_id = ${tenantId} AND previous_room_type_id = ${roomTypeId}::uuid
        AND previous_check_in <= ${date}::date AND previous_check_out > ${date}::date
    ), change AS (
      SELECT c.id, c.at, c.actor_type, c.actor_id, r.external_source, c.previous_room_type_id IS NOT NULL AS is_moved,
        c.previous_status AS old_status, coalesce(c.previous_room_type_id, c.room_type_id) AS old_room_type_id,
        coalesce(c.previous_check_in, c.check_in) AS old_check_in, coalesce(c.previous_check_out, c.check_out) AS old_check_out,
        c.status, c.room_type_id, c.check_in, c.check_out
      FROM reservation_change AS c JOIN reservation AS r ON r.tenant_id = c.tenant_id AND r.id = c.reservation_id
      WHERE c.tenant_id = ${tenantId} AND c.reservation_id = ANY (ARRAY(SELECT id FROM stay))
      UNION ALL
      SELECT r.id, r.created_at, CASE WHEN r.credential_id IS NULL THEN 'channel' ELSE 'partner' END, r.credential_id,
        r.external_source, false, NULL, NULL, NULL, NULL, coalesce(c.previous_status, r.status),
        coalesce(c.previous_room_type_id, c.room_type_id, r.room_type_id),
        coalesce(c.previous_check_in, c.check_in, r.check_in), coalesce(c.previous_check_out, c.check_out, r.check_out)
      FROM reservation AS r LEFT JOIN LATERAL (
        SELECT * FROM reservation_change WHERE tenant_id = ${tenantId} AND reservation_id = r.id ORDER BY at LIMIT 1
      ) AS c ON true
      WHERE r.tenant_id = ${tenantId} AND r.id = ANY (ARRAY(SELECT id FROM stay))
        AND (r.credential_id IS NOT NULL OR r.external_source IS NOT NULL)
    ), counted AS (
      SELECT *, coalesce(old_status = ANY (${HOLDING}) AND old_room_type_id = ${roomTypeId}::uuid
          AND old_check_in <= ${date}::date AND old_check_out > ${date}::date, false) AS held,
        status = ANY (${HOLDING}) AND room_type_id = ${roomTypeId}::uuid
          AND check_in <= ${date}::date AND check_out > ${date}::date AS holds
      FROM change
    )
    SELECT id, at, actor_type, actor_id, external_source, holds::int - held::int AS added,
      CASE WHEN is_moved THEN 'changed' WHEN holds THEN 'booked' ELSE 'cancelled' END AS what
    FROM counted WHERE held <> holds OR held AND is_moved
    ORDER BY at DESC, id DESC LIMIT ${limit}
  `.execute(db);
  return rows;
}

/** The number of audit entries is limited, because an entry may hold a thousand prices. */
const MAX_WRITES = 50;

/**
 * Reads the changes of price, stop-sell and capacity of a night from the newest audit entries of the room type, its rate plans and the
 * tenant. Leaves out a value that equals the value before, because many channel managers send all values again each day.
 *
 * If a write names the night more than once, its last element counts (rule 29). Price -1 is the price of the plan. With a LIMIT for the
 * ids, PostgreSQL might read all entries of the tenant instead of the index on the subject.
 * @param nameOfRoomType name of the room type in a tenant document, `property / room type`
 */
export async function readRateChanges(db: Db, night: Night, nameOfRoomType: string): Promise<NightChange[]> {
  const { tenant_id: tenantId, room_type_id: roomTypeId, date } = night;
  const { rows } = await sql<NightChange>`
    WITH entry AS (
      SELECT * FROM audit_entry WHERE tenant_id = ${tenantId} AND id = ANY ((ARRAY(
        SELECT id FROM audit_entry
        WHERE tenant_id = ${tenantId} AND subject = ANY (ARRAY[${String(tenantId)}::text, ${roomTypeId}::text] || ARRAY(
            SELECT p.id::text FROM rate_plan AS p WHERE p.tenant_id = ${tenantId} AND p.room_type_id = ${roomTypeId}::uuid))
          AND action IN ('rates.written', 'restrictions.written', 'rates.changed', 'room_type.changed', 'tenant.applied')
        ORDER BY id DESC
      ))[1:${MAX_WRITES}::int])
    ), written AS (
      SELECT e.*, v.* FROM entry AS e
      CROSS JOIN LATERAL (
        SELECT element FROM json_array_elements(
          coalesce(e.details -> 'entries', e.details -> 'changes', json_build_array(e.details))) WITH ORDINALITY AS all_of (element, n)
        WHERE CASE e.action WHEN 'room_type.changed' THEN true
          WHEN 'tenant.applied' THEN element ->> 'what' = 'room type' AND element ->> 'name' = ${nameOfRoomType}
          ELSE element ->> 'date' = ${date} END
        ORDER BY n DESC LIMIT 1
      ) AS last
      CROSS JOIN LATERAL (VALUES
        ('price', CASE e.action WHEN 'rates.changed' THEN coalesce((element #>> '{before,price}')::numeric, -1) END,
          CASE e.action WHEN 'rates.changed' THEN coalesce((element #>> '{after,price}')::numeric, -1)
            WHEN 'rates.written' THEN round((element ->> 'price')::numeric, 2) END),
        ('stop_sell', (element #>> '{before,is_sold_out}')::boolean::int::numeric,
          CASE e.action WHEN 'rates.changed' THEN element #>> '{after,is_sold_out}'
            WHEN 'rates.written' THEN coalesce(element ->> 'is_sold_out', 'false')
            WHEN 'restrictions.written' THEN coalesce(element ->> 'stop_sell', 'false') END::boolean::int::numeric),
        ('capacity', (element #>> '{before,physical_capacity}')::numeric,
          CASE e.action WHEN 'room_type.changed' THEN element #>> '{after,physical_capacity}'
            WHEN 'tenant.applied' THEN (SELECT field ->> 'to' FROM json_array_elements(element -> 'fields') AS field
              WHERE field ->> 'field' = 'physical_capacity') END::numeric)
      ) AS v (what, before, after)
      WHERE v.after IS NOT NULL
    ), compared AS (
      SELECT *, coalesce(before, lag(after) OVER (PARTITION BY subject, what ORDER BY id),
        CASE what WHEN 'stop_sell' THEN 0 END) AS earlier
      FROM written
    )
    SELECT id, at, what, actor_id, NULL AS external_source, 0 AS added,
      CASE actor_type WHEN 'user' THEN 'person' WHEN 'credential' THEN 'partner' WHEN 'display' THEN 'display' ELSE 'operator' END
        AS actor_type
    FROM compared WHERE after IS DISTINCT FROM earlier
  `.execute(db);
  return rows;
}

export interface NightDifference {
  room_type_id: string;
  date: DateText;
  held: number;
  counted: number;
}

export interface Recount {
  nights: number;
  differences: NightDifference[];
}

/**
 * Compares all night counters of the tenant with its reservations, in one snapshot. The days have no time zone, because with one the
 * statement could skip a day on which the clocks change at midnight.
 */
export async function recount(db: Db, tenantId: number): Promise<Recount> {
  const { rows } = await sql<NightDifference & { nights: number }>`
    WITH counted AS (
      SELECT room_type_id, day::date AS date, count(*)::int AS rooms
      FROM reservation, generate_series(check_in::timestamp, check_out - interval '1 day', interval '1 day') AS day
      WHERE tenant_id = ${tenantId} AND status = ANY (${HOLDING})
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
    differences: rows.filter((row) => row.room_type_id !== null).map(({ nights, ...difference }) => difference),
  };
}
