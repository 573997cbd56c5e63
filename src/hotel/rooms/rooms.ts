/** Properties and room types. */
import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { announceChange, type Caches, type TenantCache } from '#platform/changes/changes.ts';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { orNotFound } from '#platform/errors.ts';
import { describeListChanges } from '#platform/lib/change-list.ts';
import { changedRows, rowsToWrite } from '#platform/lib/changed-rows.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import type { ChangedRoomType, PropertyDocument, RoomType, RoomTypeChange } from './schema.ts';
import * as store from './store.ts';

export { propertyFaults } from './property-faults.ts';
export { PropertyDocument, type RatePlanDocument, RoomType, RoomTypePrice } from './schema.ts';
export type { Clock, PropertyRow, RoomTypeRow, RoomTypeWithClock } from './store.ts';

export async function listProperties(
  db: Database,
  tenantId: number,
): Promise<{ property: store.PropertyRow; roomTypes: store.RoomTypeRow[] }[]> {
  const [properties, roomTypes] = await Promise.all([
    store.readProperties(db, tenantId),
    store.readRoomTypes(db, tenantId),
  ]);
  return properties
    .filter((property) => property.is_active)
    .map((property) => ({
      property,
      roomTypes: roomTypes.filter((roomType) => roomType.is_active && roomType.property_id === property.id),
    }));
}

/** @throws ApiError 404 (code `error`) if no active property has this id */
export async function findProperty(db: Database, tenantId: number, id: string) {
  const properties = await listProperties(db, tenantId);
  return orNotFound(
    properties.find(({ property }) => property.id === id.toLowerCase()),
    'property',
  );
}

export async function listRoomTypes(db: Database, tenant: { tenantId: number; currency: string }): Promise<RoomType[]> {
  const properties = await listProperties(db, tenant.tenantId);
  return properties.flatMap(({ property: { id, name, city, country_code }, roomTypes }) =>
    roomTypes.map((roomType) => ({
      room_type_id: roomType.id,
      name: roomType.name,
      description: roomType.description,
      max_occupancy: roomType.max_occupancy,
      base_price: roomType.base_price,
      currency: tenant.currency,
      property: { id, name, city, country_code },
      amenities: roomType.amenities,
      images: roomType.images,
    })),
  );
}

export type FindRoomType = (tenantId: number, id: string) => Promise<store.RoomTypeWithClock | undefined>;

/** Returns undefined if the id is unknown, is not a UUID, or belongs to another tenant. */
export async function findRoomType(db: Db, tenantId: number, id: string): ReturnType<FindRoomType> {
  return isUuid(id) ? (await store.readWithClocks(db, tenantId, id))[0] : undefined;
}

/** An entry takes some kilobytes, because it holds the texts of the room type. */
const MAX_CACHED = 50_000;

export function createRoomTypeFinder({ db, caches }: { db: Database; caches: Caches }): FindRoomType {
  const cache: TenantCache<store.RoomTypeWithClock> = caches.createCache(MAX_CACHED);
  return async (tenantId, id) => {
    const key = `${tenantId} ${id.toLowerCase()}`;
    return cache.get(key) ?? (await cache.load(tenantId, key, () => findRoomType(db, tenantId, id)));
  };
}

/**
 * Changes the capacity of a room type. A night on which more rooms are held is then oversold.
 * @throws ApiError 404 (code `error`) if the room type is unknown or belongs to another tenant
 */
export async function changeRoomType(
  db: Database,
  actor: Actor,
  id: string,
  change: RoomTypeChange,
): Promise<ChangedRoomType> {
  const recordAudit = prepareAudit(actor);
  return await inTransaction(db, async (tx) => {
    const stored = orNotFound(isUuid(id) ? await store.lockRoomType(tx, actor.tenantId, id) : undefined, 'room type');
    const before = { physical_capacity: stored.physical_capacity };
    const after = { physical_capacity: change.physical_capacity ?? before.physical_capacity };
    if (after.physical_capacity !== before.physical_capacity) {
      await store.updateCapacity(tx, actor.tenantId, stored.id, after.physical_capacity);
      await recordAudit(tx, { action: 'room_type.changed', subject: stored.id, details: { before, after } });
      await announceChange(tx, actor.tenantId);
    }
    return { ...stored, ...after };
  });
}

export async function readClocks(db: Database, tenantId: number): Promise<Map<string, store.Clock>> {
  return new Map((await store.readWithClocks(db, tenantId)).map((roomType) => [roomType.id, roomType]));
}

const PROPERTY_DEFAULTS = { address: '', city: '', check_in_time: '15:00', check_out_time: '11:00' };
const ROOM_TYPE_DEFAULTS = { description: '', amenities: [], images: [] };

/**
 * Creates and updates the properties and room types of a tenant. A property or room type that `documents` no longer lists becomes inactive.
 * It is never deleted.
 */
export async function applyProperties(tx: Tx, tenantId: number, documents: PropertyDocument[]) {
  const storedProperties = await store.readProperties(tx, tenantId);
  const storedRoomTypes = await store.readRoomTypes(tx, tenantId);
  const applied = documents.map((document) => {
    const id = storedProperties.find((row) => row.name === document.name)?.id ?? newId();
    const roomTypes = (document.room_types ?? []).map((roomType) => {
      const known = storedRoomTypes.find((row) => row.property_id === id && row.name === roomType.name);
      return { id: known?.id ?? newId(), document: roomType };
    });
    return { id, document, roomTypes };
  });
  const properties = applied.map(({ id, document: { room_types, ...document } }, position) => ({
    tenant_id: tenantId,
    id,
    position,
    ...PROPERTY_DEFAULTS,
    ...document,
    is_active: true,
  }));
  const roomTypes = applied
    .flatMap(({ id, roomTypes: inProperty }) => inProperty.map((roomType) => ({ ...roomType, property_id: id })))
    .map(({ id, property_id, document: { rate_plans, base_price = null, ...document } }, position) => ({
      tenant_id: tenantId,
      id,
      property_id,
      position,
      ...ROOM_TYPE_DEFAULTS,
      ...document,
      base_price: base_price === null ? null : formatMoney(base_price),
      is_active: true,
    }));
  const changedProperties = changedRows(storedProperties, properties);
  const changedRoomTypes = changedRows(storedRoomTypes, roomTypes);
  if (changedProperties.length > 0) {
    await store.upsertProperties(tx, rowsToWrite(changedProperties));
  }
  if (changedRoomTypes.length > 0) {
    await store.upsertRoomTypes(tx, rowsToWrite(changedRoomTypes));
  }
  const nameOfRoomType = roomTypeNames([...storedProperties, ...properties], [...storedRoomTypes, ...roomTypes]);
  const changes = [
    ...describeListChanges('property', changedProperties, ({ name }) => name),
    ...describeListChanges('room type', changedRoomTypes, ({ id }) => nameOfRoomType(id)),
  ];
  return { properties: applied, nameOfRoomType, changes };
}

/**
 * `properties` and `roomTypes` contain the stored rows and the rows from the tenant document. Two rows with one id have the same name,
 * because a row from the document gets the id of the stored row with its name.
 */
function roomTypeNames(properties: store.PropertyRow[], roomTypes: store.RoomTypeRow[]): (id: string) => string {
  const propertyNames = new Map(properties.map(({ id, name }) => [id, name]));
  const names = new Map(roomTypes.map((row) => [row.id, `${propertyNames.get(row.property_id)} / ${row.name}`]));
  return (id) => names.get(id) ?? id;
}
