import type { Selectable } from 'kysely';
import type { Db, DB, Tx } from '#platform/db/database.ts';
import { excludedValues } from '#platform/db/inputs.ts';

const KEY = ['tenant_id', 'id'] as const;

export type PropertyRow = Selectable<DB['property']>;
export type RoomTypeRow = Omit<Selectable<DB['room_type']>, 'amenities' | 'images'> & {
  amenities: string[];
  images: string[];
};

export async function readProperties(db: Db, tenantId: number): Promise<PropertyRow[]> {
  return await db
    .selectFrom('property')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('position')
    .orderBy('id')
    .execute();
}

export async function readRoomTypes(db: Db, tenantId: number): Promise<RoomTypeRow[]> {
  const rows = await db
    .selectFrom('room_type')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('position')
    .orderBy('id')
    .execute();
  return rows as RoomTypeRow[];
}

/** Time zone and check-in and check-out times that convert the dates of a stay to instants. */
export type Clock = Pick<PropertyRow, 'timezone' | 'check_in_time' | 'check_out_time'>;
export type RoomTypeWithClock = RoomTypeRow & Clock & { property_name: string };

/** Reads the room types of the tenant, or one of them, active or not, each with the clock of its property. */
export async function readWithClocks(db: Db, tenantId: number, id?: string): Promise<RoomTypeWithClock[]> {
  const all = db
    .selectFrom('room_type as r')
    .innerJoin('property as p', (join) =>
      join.onRef('p.tenant_id', '=', 'r.tenant_id').onRef('p.id', '=', 'r.property_id'),
    )
    .selectAll('r')
    .select(['p.timezone', 'p.check_in_time', 'p.check_out_time', 'p.name as property_name'])
    .where('r.tenant_id', '=', tenantId)
    .where('p.tenant_id', '=', tenantId);
  return (await (id === undefined ? all : all.where('r.id', '=', id)).execute()) as RoomTypeWithClock[];
}

/** Bookings do not wait for this lock, because their foreign key locks only the key of the row. */
export async function lockRoomType(
  tx: Tx,
  tenantId: number,
  id: string,
): Promise<Pick<RoomTypeRow, 'id' | 'name' | 'physical_capacity'> | undefined> {
  return await tx
    .selectFrom('room_type')
    .select(['id', 'name', 'physical_capacity'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function updateCapacity(tx: Tx, tenantId: number, id: string, physicalCapacity: number): Promise<void> {
  await tx
    .updateTable('room_type')
    .set({ physical_capacity: physicalCapacity })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

export async function upsertProperties(tx: Tx, rows: PropertyRow[]): Promise<void> {
  await tx
    .insertInto('property')
    .values(rows)
    .onConflict((conflict) => conflict.columns(KEY).doUpdateSet(excludedValues(rows, KEY)))
    .execute();
}

export async function upsertRoomTypes(tx: Tx, rows: RoomTypeRow[]): Promise<void> {
  const written = rows.map((row) => ({
    ...row,
    amenities: JSON.stringify(row.amenities),
    images: JSON.stringify(row.images),
  }));
  await tx
    .insertInto('room_type')
    .values(written)
    .onConflict((conflict) => conflict.columns(KEY).doUpdateSet(excludedValues(written, KEY)))
    .execute();
}
