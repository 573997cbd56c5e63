import { type RawBuilder, sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { Fields, type Owner, rowsToInsert, selectEach } from '#platform/db/inputs.ts';
import type { KeysetList } from '#platform/db/keyset-list.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { STAY_RANGE, type StayRange } from '../rates/rates.ts';
import type { OversoldNight } from './schema.ts';

export interface Night {
  tenantId: number;
  roomTypeId: string;
  date: DateText;
}

/** `rooms` is negative if rooms are released. */
export interface NightChange extends Night {
  rooms: number;
}

interface NightRow {
  tenant_id: number;
  room_type_id: string;
  date: DateText;
  held: number;
}

const NIGHT_ROW = new Fields<NightRow>({ tenant_id: 'bigint', room_type_id: 'uuid', date: 'date', held: 'int' });
const OWNER: Owner<NightRow> = {
  table: 'room_type',
  idColumn: 'room_type_id',
  key: ['tenant_id', 'room_type_id', 'date'],
};

/**
 * Changes the counters of nights by one INSERT. Skips each night on which the held rooms would exceed the capacity of the room type. Does
 * not check the capacity of a night that has no row yet, so the caller must check it before. A release is not checked, because an oversold
 * night may stay above the capacity even after the release.
 *
 * `rowsToInsert` sorts the rows. So all writers lock the nights in the same order and cannot deadlock. An UPDATE would not be safe, because
 * PostgreSQL could lock its rows in another order.
 * @param changes on a database cluster, all nights must belong to one tenant. A missing or infinite capacity is not checked
 */
export async function changeHeld(
  tx: Tx,
  changes: (NightChange & { capacity?: number })[],
): Promise<(Night & { held: number })[]> {
  const rows = changes.map(({ tenantId, roomTypeId, date, rooms }) => ({
    tenant_id: tenantId,
    room_type_id: roomTypeId,
    date,
    held: rooms,
  }));
  const changed = await sql<Night & { held: number }>`
    INSERT INTO night AS n ${rowsToInsert(tx, NIGHT_ROW, rows, OWNER)}
    ON CONFLICT (tenant_id, room_type_id, date) DO UPDATE SET held = n.held + excluded.held
      WHERE excluded.held < 0 OR n.held + excluded.held <= ${capacityIn(changes)}
    RETURNING tenant_id AS "tenantId", room_type_id AS "roomTypeId", date, held
  `.execute(tx);
  return changed.rows;
}

const MAX_INTEGER = 2_147_483_647;

/** Lists the capacities, because a database cluster refuses a subquery in the condition of `ON CONFLICT DO UPDATE`. */
function capacityIn(changes: { roomTypeId: string; capacity?: number }[]): RawBuilder<unknown> {
  const capacities = new Map<string, number>();
  for (const { roomTypeId, capacity = Infinity } of changes) {
    if (capacity !== Infinity) {
      capacities.set(roomTypeId, capacity);
    }
  }
  const listed = sql`(${[...capacities.values()]}::int[])[array_position(${[...capacities.keys()]}::uuid[], n.room_type_id)]`;
  return sql`coalesce(${listed}, ${sql.lit(MAX_INTEGER)})`;
}

export async function findHeld(db: Db, { tenantId, roomTypeId, date }: Night): Promise<number> {
  const row = await db
    .selectFrom('night')
    .select('held')
    .where('tenant_id', '=', tenantId)
    .where('room_type_id', '=', roomTypeId)
    .where('date', '=', date)
    .executeTakeFirst();
  return row?.held ?? 0;
}

/** `held[n]` belongs to the night that is `offsets[n]` days after check-in. Both lists are null if no night of the range has a counter. */
export interface HeldNights {
  offsets: number[] | null;
  held: number[] | null;
}

/** Reads the counters of several ranges. Two lists are faster to read than one row for each night. */
export function readHeld(db: Database, ranges: StayRange[]): Promise<(HeldNights | undefined)[]> {
  return selectEach(
    db,
    STAY_RANGE,
    ranges,
    ({ tenantId, roomTypeId, checkIn, checkOut }) => sql<HeldNights>`
      SELECT to_json(array_agg(date - ${checkIn})) AS offsets, to_json(array_agg(held)) AS held FROM night
      WHERE tenant_id = ${tenantId} AND room_type_id = ${roomTypeId} AND date >= ${checkIn} AND date < ${checkOut}
    `,
  );
}

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
