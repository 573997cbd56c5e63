import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '#platform/db/database.ts';
import { Fields, rowsToInsert, selectEach } from '#platform/db/inputs.ts';
import { isCluster } from '#platform/db/layout.ts';
import type { DateText } from '#platform/lib/dates.ts';

/** A night of a room type. */
export interface Night {
  tenantId: number;
  roomTypeId: string;
  date: DateText;
}

/** So many rooms more, or less, held on a night. */
export interface NightChange extends Night {
  rooms: number;
}

/** The columns of a change; a night without a row gets one. */
interface NightRow {
  tenant_id: number;
  room_type_id: string;
  date: DateText;
  held: number;
}

const NIGHT_ROW = new Fields<NightRow>({ tenant_id: 'bigint', room_type_id: 'uuid', date: 'date', held: 'int' });

/**
 * Changes the counters of nights, whatever the capacity is.
 * @returns each night with the rooms that are now held
 */
export async function changeHeld(tx: Tx, changes: NightChange[]): Promise<(Night & { held: number })[]> {
  return await addToHeld(tx, changes, sql`true`);
}

/**
 * Takes rooms on nights, as far as the capacity of their room types goes: a night that has not so many left is passed over. A night
 * that has no row yet takes whatever is wanted, so more than the capacity must be refused before.
 * @param nights on a cluster those of one stay
 * @returns the nights that were taken
 */
export async function holdNights(tx: Tx, nights: (NightChange & { capacity: number })[]): Promise<Night[]> {
  // A cluster allows no subquery here.
  const capacity = isCluster(tx)
    ? sql`${nights[0]?.capacity}::int`
    : sql`(SELECT physical_capacity FROM room_type WHERE tenant_id = n.tenant_id AND id = n.room_type_id)`;
  return await addToHeld(tx, nights, sql`n.held + excluded.held <= ${capacity}`);
}

/**
 * One statement for all nights, of any tenants on one node, in the order in which every writer locks them. Not a range UPDATE: that
 * locks in the order the rows lie on disk, and two stays that overlap deadlock.
 */
async function addToHeld(tx: Tx, changes: NightChange[], condition: RawBuilder<unknown>) {
  const rows = changes.map(({ tenantId, roomTypeId, date, rooms }) => ({
    tenant_id: tenantId,
    room_type_id: roomTypeId,
    date,
    held: rooms,
  }));
  const changed = await sql<Night & { held: number }>`
    INSERT INTO night AS n ${rowsToInsert(tx, NIGHT_ROW, rows, ['tenant_id', 'room_type_id', 'date'])}
    ON CONFLICT (tenant_id, room_type_id, date) DO UPDATE SET held = n.held + excluded.held WHERE ${condition}
    RETURNING tenant_id AS "tenantId", room_type_id AS "roomTypeId", date, held
  `.execute(tx);
  return changed.rows;
}

/** A range of a room type's nights. */
export interface NightRange {
  tenantId: number;
  roomTypeId: string;
  checkIn: DateText;
  checkOut: DateText;
}

const NIGHT_RANGE = new Fields<NightRange>({
  tenantId: 'bigint',
  roomTypeId: 'uuid',
  checkIn: 'date',
  checkOut: 'date',
});

/** Counters of a range: that of its night `offsets[n]`, counted from check-in, is `held[n]`. Null: no night has one. */
export interface HeldNights {
  offsets: number[] | null;
  held: number[] | null;
}

/** The counters of many ranges, across tenants where there are several, in their order: two lists for a range are read faster than rows. */
export function readHeld(db: Database, ranges: NightRange[]): Promise<(HeldNights | undefined)[]> {
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
