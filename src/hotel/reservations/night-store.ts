import { type RawBuilder, sql } from 'kysely';
import type { Db } from '#platform/db/database.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { coversNight } from './list-store.ts';
import { HOLDING_STATUSES } from './reservation-status.ts';
import type { ReservationChangeRow } from './change-store.ts';
import type { ReservationRow } from './store.ts';

/** One night of one room type. */
export interface NightKey {
  tenantId: number;
  roomTypeId: string;
  date: DateText;
}

const HOLDING = [...HOLDING_STATUSES];

type Holder = Pick<
  ReservationRow,
  'id' | 'natural_id' | 'status' | 'credential_id' | 'external_source' | 'guest_name' | 'check_in' | 'check_out'
>;

/** Reads the stays that hold a room in the night, the newest booking first. */
export async function readHolders(db: Db, night: NightKey, limit: number): Promise<Holder[]> {
  const { rows } = await sql<Holder>`
    SELECT id, natural_id, status, credential_id, external_source, guest_name, check_in, check_out FROM reservation
    WHERE tenant_id = ${night.tenantId} AND id = ANY (ARRAY(${staysNow(night)})) AND status = ANY (${HOLDING})
    ORDER BY id DESC LIMIT ${limit}
  `.execute(db);
  return rows;
}

/** Selects the ids of the stays whose present dates and room type cover the night. */
function staysNow({ tenantId, roomTypeId, date }: NightKey): RawBuilder<unknown> {
  return sql`
    SELECT id FROM reservation WHERE tenant_id = ${tenantId} AND room_type_id = ${roomTypeId}::uuid AND ${coversNight(date)}
  `;
}

/** Selects the ids of the stays that cover the night now, and of those that covered it before a change. */
function staysEver(night: NightKey): RawBuilder<unknown> {
  const { tenantId, roomTypeId, date } = night;
  return sql`
    ${staysNow(night)} UNION SELECT reservation_id FROM reservation_change
    WHERE tenant_id = ${tenantId} AND previous_room_type_id = ${roomTypeId}::uuid
      AND previous_check_in <= ${date}::date AND previous_check_out > ${date}::date
  `;
}

export type BookedRow = Pick<ReservationRow, 'id' | 'created_at' | 'credential_id' | 'external_source'>;

/**
 * Reads the newest reservations of partners and OTAs whose booking held a room of this room type in this night. A later change may have
 * moved or cancelled the reservation. If a reservation has changed since its booking, its row no longer shows the booked status, dates and
 * room type. These values then come from the first stored change of the reservation, because a change also stores the values before it.
 */
export async function readBookings(db: Db, night: NightKey, limit: number): Promise<BookedRow[]> {
  const { tenantId, roomTypeId, date } = night;
  const { rows } = await sql<BookedRow>`
    SELECT r.id, r.created_at, r.credential_id, r.external_source
    FROM reservation AS r LEFT JOIN LATERAL (
      SELECT c.previous_status AS status, coalesce(c.previous_room_type_id, c.room_type_id) AS room_type_id,
        coalesce(c.previous_check_in, c.check_in) AS check_in, coalesce(c.previous_check_out, c.check_out) AS check_out
      FROM reservation_change AS c WHERE c.tenant_id = ${tenantId} AND c.reservation_id = r.id ORDER BY c.at LIMIT 1
    ) AS first ON true
    WHERE r.tenant_id = ${tenantId} AND r.id = ANY (ARRAY(${staysEver(night)}))
      AND (r.credential_id IS NOT NULL OR r.external_source IS NOT NULL)
      AND coalesce(first.status, r.status) = ANY (${HOLDING})
      AND coalesce(first.room_type_id, r.room_type_id) = ${roomTypeId}::uuid
      AND coalesce(first.check_in, r.check_in) <= ${date}::date AND coalesce(first.check_out, r.check_out) > ${date}::date
    ORDER BY r.created_at DESC, r.id DESC LIMIT ${limit}
  `.execute(db);
  return rows;
}

export type NightChangeRow = Pick<
  ReservationChangeRow,
  'id' | 'at' | 'actor_type' | 'actor_id' | 'previous_status' | 'previous_room_type_id'
> & {
  external_source: string | null;
  /** True if the stay held this night until the change. */
  held: boolean;
  /** True if the stay held this night immediately after the change. */
  holds: boolean;
};

/**
 * Reads the newest changes of stays. Reads a change only if the stay held this night immediately before or immediately after the change.
 * Leaves out the change if the stay held the night at both times and only its status changed.
 */
export async function readNightChanges(db: Db, night: NightKey, limit: number): Promise<NightChangeRow[]> {
  const { tenantId, roomTypeId, date } = night;
  const { rows } = await sql<NightChangeRow>`
    SELECT * FROM (
      SELECT c.id, c.at, c.actor_type, c.actor_id, c.previous_status, c.previous_room_type_id, r.external_source,
        coalesce(c.previous_status = ANY (${HOLDING})
          AND coalesce(c.previous_room_type_id, c.room_type_id) = ${roomTypeId}::uuid
          AND coalesce(c.previous_check_in, c.check_in) <= ${date}::date
          AND coalesce(c.previous_check_out, c.check_out) > ${date}::date, false) AS held,
        c.status = ANY (${HOLDING}) AND c.room_type_id = ${roomTypeId}::uuid
          AND c.check_in <= ${date}::date AND c.check_out > ${date}::date AS holds
      FROM reservation_change AS c JOIN reservation AS r ON r.tenant_id = c.tenant_id AND r.id = c.reservation_id
      WHERE c.tenant_id = ${tenantId} AND c.reservation_id = ANY (ARRAY(${staysEver(night)}))
    ) AS change
    WHERE held <> holds OR held AND previous_room_type_id IS NOT NULL
    ORDER BY at DESC, id DESC LIMIT ${limit}
  `.execute(db);
  return rows;
}
