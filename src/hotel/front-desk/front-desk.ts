import type { Database } from '#platform/db/database.ts';
import { listActivePlans } from '../rates/rates.ts';
import { listProperties } from '../rooms/rooms.ts';
import type { StaffProperty } from './schema.ts';

/** Returns the active properties of the tenant, with their active room types and rate plans, in the order of the tenant document. */
export async function listStaffProperties(db: Database, tenantId: number): Promise<StaffProperty[]> {
  const [properties, plans] = await Promise.all([listProperties(db, tenantId), listActivePlans(db, tenantId)]);
  return properties.map(({ property: { tenant_id, position, is_active, ...property }, roomTypes }) => ({
    ...property,
    room_types: roomTypes.map(({ tenant_id: _tenant, position: _, is_active: __, property_id, ...roomType }) => ({
      ...roomType,
      rate_plans: plans.get(roomType.id) ?? [],
    })),
  }));
}
