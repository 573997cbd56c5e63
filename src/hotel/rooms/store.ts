import type { Db, Tx } from '#platform/db/database.ts';

export interface PropertyRow {
  id: string;
  position: number;
  name: string;
  address: string;
  city: string;
  country_code: string;
  timezone: string;
  check_in_time: string;
  check_out_time: string;
  is_active: boolean;
}

export interface RoomTypeRow {
  id: string;
  property_id: string;
  position: number;
  name: string;
  description: string;
  max_occupancy: number;
  base_price: string | null;
  physical_capacity: number;
  amenities: string[];
  images: string[];
  is_active: boolean;
}

export async function readProperties(db: Db, tenantId: number): Promise<PropertyRow[]> {
  const rows = await db
    .selectFrom('property')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('position')
    .orderBy('id')
    .execute();
  return rows.map(({ tenant_id, ...row }) => row);
}

export async function readRoomTypes(db: Db, tenantId: number): Promise<RoomTypeRow[]> {
  const rows = await db
    .selectFrom('room_type')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('position')
    .orderBy('id')
    .execute();
  return rows.map(({ tenant_id, ...row }) => row as RoomTypeRow);
}

export type RoomTypeWithClock = RoomTypeRow &
  Pick<PropertyRow, 'timezone' | 'check_in_time' | 'check_out_time'> & { property_name: string };

export async function findRoomType(db: Db, tenantId: number, id: string): Promise<RoomTypeWithClock | undefined> {
  const row = await db
    .selectFrom('room_type as r')
    .innerJoin('property as p', (join) =>
      join.onRef('p.tenant_id', '=', 'r.tenant_id').onRef('p.id', '=', 'r.property_id'),
    )
    .selectAll('r')
    .select(['p.timezone', 'p.check_in_time', 'p.check_out_time', 'p.name as property_name'])
    .where('r.tenant_id', '=', tenantId)
    .where('p.tenant_id', '=', tenantId)
    .where('r.id', '=', id)
    .executeTakeFirst();
  return row as RoomTypeWithClock | undefined;
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

export async function upsertProperties(tx: Tx, tenantId: number, rows: PropertyRow[]): Promise<void> {
  await tx
    .insertInto('property')
    .values(rows.map((row) => ({ ...row, tenant_id: tenantId })))
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'id']).doUpdateSet((eb) => ({
        position: eb.ref('excluded.position'),
        address: eb.ref('excluded.address'),
        city: eb.ref('excluded.city'),
        country_code: eb.ref('excluded.country_code'),
        timezone: eb.ref('excluded.timezone'),
        check_in_time: eb.ref('excluded.check_in_time'),
        check_out_time: eb.ref('excluded.check_out_time'),
        is_active: eb.ref('excluded.is_active'),
      })),
    )
    .execute();
}

export async function upsertRoomTypes(tx: Tx, tenantId: number, rows: RoomTypeRow[]): Promise<void> {
  await tx
    .insertInto('room_type')
    .values(
      rows.map((row) => ({
        ...row,
        tenant_id: tenantId,
        amenities: JSON.stringify(row.amenities),
        images: JSON.stringify(row.images),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'id']).doUpdateSet((eb) => ({
        position: eb.ref('excluded.position'),
        description: eb.ref('excluded.description'),
        max_occupancy: eb.ref('excluded.max_occupancy'),
        base_price: eb.ref('excluded.base_price'),
        physical_capacity: eb.ref('excluded.physical_capacity'),
        amenities: eb.ref('excluded.amenities'),
        images: eb.ref('excluded.images'),
        is_active: eb.ref('excluded.is_active'),
      })),
    )
    .execute();
}

export async function readClocks(
  db: Db,
  tenantId: number,
): Promise<({ room_type_id: string } & Pick<PropertyRow, 'timezone' | 'check_in_time' | 'check_out_time'>)[]> {
  return await db
    .selectFrom('room_type as r')
    .innerJoin('property as p', (join) =>
      join.onRef('p.tenant_id', '=', 'r.tenant_id').onRef('p.id', '=', 'r.property_id'),
    )
    .select(['r.id as room_type_id', 'p.timezone', 'p.check_in_time', 'p.check_out_time'])
    .where('r.tenant_id', '=', tenantId)
    .where('p.tenant_id', '=', tenantId)
    .execute();
}
