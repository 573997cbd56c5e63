import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Db, DB, Tx } from '#platform/db/database.ts';
import { fieldsOfTable, type Owner, rowsToInsert, selectEach } from '#platform/db/inputs.ts';
import type { KeysetList } from '#platform/db/keyset-list.ts';
import { countNights, type DateText } from '#platform/lib/dates.ts';
import { MAX_INTEGER } from '#platform/lib/fields.ts';
import { STAY_RANGE, type StayRange } from '../rates/rates.ts';
import type { OversoldNight } from './schema.ts';

/** In a change, `held` is the number of rooms to hold, and it is negative if rooms are released. */
export type NightRow = Selectable<DB['night']>;
export type Night = Omit<NightRow, 'held'>;

const NIGHT_ROW = fieldsOfTable('night');
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
export async function changeHeld(tx: Tx, changes: (NightRow & { capacity?: number })[]): Promise<NightRow[]> {
  const { rows } = await sql<NightRow>`
    INSERT INTO night AS n ${rowsToInsert<NightRow>(tx, NIGHT_ROW, changes, OWNER)}
    ON CONFLICT (tenant_id, room_type_id, date) DO UPDATE SET held = n.held + excluded.held
      WHERE excluded.held < 0 OR n.held + excluded.held <= ${capacityIn(changes)}
    RETURNING tenant_id, room_type_id, date, held
  `.execute(tx);
  return rows;
}

/** Lists the capacities, because a database cluster refuses a subquery in the condition of `ON CONFLICT DO UPDATE`. */
function capacityIn(changes: { room_type_id: string; capacity?: number }[]): RawBuilder<unknown> {
  const capacities = new Map<string, number>();
  for (const { room_type_id, capacity = Infinity } of changes) {
    if (capacity !== Infinity) {
      capacities.set(room_type_id, capacity);
    }
  }
  const listed = sql`(${[...capacities.values()]}::int[])[array_position(${[...capacities.keys()]}::uuid[], n.room_type_id)]`;
  return sql`coalesce(${listed}, ${sql.lit(MAX_INTEGER)})`;
}

/** Reads the number of held rooms of each night of each range. One object is faster to read than one row for each night. */
export async function readHeld(db: Db, ranges: StayRange[]): Promise<number[][]> {
  const counters = await selectEach(
    db,
    STAY_RANGE,
    ranges,
    ({ tenant_id, room_type_id, check_in, check_out }) => sql<{ held: Record<number, number> }>`
      SELECT coalesce(json_object_agg(date - ${check_in}, held), '{}') AS held FROM night
      WHERE tenant_id = ${tenant_id} AND room_type_id = ${room_type_id} AND date >= ${check_in} AND date < ${check_out}
    `,
  );
  return ranges.map(({ check_in, check_out }, index) =>
    Array.from({ length: countNights(check_in, check_out) }, (_, night) => counters[index]?.held[night] ?? 0),
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
