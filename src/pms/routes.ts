import Type from 'typebox';
import { callerActor } from '../credentials/credentials.ts';
import type { Database } from '../db/database.ts';
import { notFound } from '../errors.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import type { ReadHeldNights } from '../nights/nights.ts';
import {
  listActivePlans,
  Rate,
  RatesWrite,
  RestrictionsWrite,
  readRates,
  writeRates,
  writeRestrictions,
} from '../rates/rates.ts';
import {
  checkRange,
  PmsReservation,
  pmsShape,
  type ReservationRow,
  type Reservations,
} from '../reservations/reservations.ts';
import { type Clock, type FindRoomType, listProperties, readClocks } from '../rooms/rooms.ts';
import {
  BookingPath,
  InventoryEntry,
  InventoryQuery,
  Property,
  PropertyPath,
  RatesQuery,
  ReservationsQuery,
  RestrictionsWritten,
  RoomType,
} from './schema.ts';

interface Dependencies {
  db: Database;
  /** Inputs that one statement may take (`batchSizeOf`). */
  batchSize: number;
  findRoomType: FindRoomType;
  readHeldNights: ReadHeldNights;
  reservations: Reservations;
  pmsGuard: Guard;
}

/** PMS contract §8. */
const MAX_RESERVATIONS = 200;
const SHARED = { tags: ['PMS'], security: [{ pmsApiKey: [], pmsApiSecret: [] }] };

/** The PMS API: an adapter over rooms, rates, nights and reservations. */
export function pmsRoutes(app: App, dependencies: Dependencies): void {
  roomRoutes(app, dependencies);
  inventoryRoute(app, dependencies);
  rateRoutes(app, dependencies);
  reservationRoutes(app, dependencies);
}

function roomRoutes(app: App, { db, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/properties/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsListProperties',
        summary: 'List the properties',
        response: { 200: Type.Array(Property) },
      },
    },
    async (request) =>
      (await listProperties(db, request.caller.tenantId)).map(
        ({ property: { id, name, address, city, country_code } }) => ({ id, name, address, city, country_code }),
      ),
  );
  app.get(
    '/v1/channel-manager/pms/properties/:property_id/room-types/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsListRoomTypes',
        summary: "List a property's room types with their active rate plans",
        params: PropertyPath,
        response: { 200: Type.Array(RoomType) },
      },
    },
    async (request) => {
      const { tenantId } = request.caller;
      const [properties, plans] = await Promise.all([listProperties(db, tenantId), listActivePlans(db, tenantId)]);
      const found = properties.find(({ property }) => property.id === request.params.property_id.toLowerCase());
      if (found === undefined) {
        throw notFound('property');
      }
      return found.roomTypes.map(({ id, name, max_occupancy, base_price }) => ({
        id,
        name,
        max_occupancy,
        base_price,
        rate_plans: plans.get(id) ?? [],
      }));
    },
  );
}

function inventoryRoute(app: App, { findRoomType, readHeldNights, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/inventory/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsGetInventory',
        summary: 'Read capacity and what is left of a room type, night by night',
        querystring: InventoryQuery,
        response: { 200: Type.Array(InventoryEntry) },
      },
    },
    async (request) => {
      const { room_type_id: roomTypeId, check_in: checkIn, check_out: checkOut } = request.query;
      const { tenantId } = request.caller;
      checkRange(request.query);
      const roomType = await findRoomType(tenantId, roomTypeId);
      if (roomType === null) {
        throw notFound('room type');
      }
      const capacity = roomType.physical_capacity;
      const nights = await readHeldNights({ tenantId, roomTypeId, checkIn, checkOut });
      return nights.map(({ date, held }) => ({ date, physical_capacity: capacity, sellable: capacity - held }));
    },
  );
}

function rateRoutes(app: App, { db, batchSize, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/rates/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsGetRates',
        summary: 'Read the price of every night under a rate plan',
        querystring: RatesQuery,
        response: { 200: Type.Array(Rate) },
      },
    },
    async (request) => {
      checkRange(request.query);
      const { rate_plan_id, check_in, check_out } = request.query;
      return await readRates(db, request.caller.tenantId, rate_plan_id, check_in, check_out);
    },
  );
  app.put(
    '/v1/channel-manager/pms/rates/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsPutRates',
        summary: 'Write prices, all or none',
        body: RatesWrite,
        response: { 200: Type.Array(Rate) },
      },
    },
    async (request) => await writeRates({ db, batchSize }, callerActor(request.caller), request.body),
  );
  app.put(
    '/v1/channel-manager/pms/restrictions/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsPutRestrictions',
        summary: 'Write restrictions, all or none',
        body: RestrictionsWrite,
        response: { 200: RestrictionsWritten },
      },
    },
    async (request) => ({
      updated: await writeRestrictions({ db, batchSize }, callerActor(request.caller), request.body),
    }),
  );
}

function reservationRoutes(app: App, { db, findRoomType, reservations, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/reservations/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsListReservations',
        summary: 'List reservations, newest check-in first, at most 200',
        querystring: ReservationsQuery,
        response: { 200: Type.Array(PmsReservation) },
      },
    },
    async (request) => {
      const { tenantId } = request.caller;
      const filter = { tenantId, status: request.query.status };
      const rows = await reservations.listByCheckIn(filter, MAX_RESERVATIONS);
      const clocks = await readClocks(db, tenantId);
      // Read by day; houses in different zones come into order by the moments that are shown.
      return rows
        .map((row) => shapeBy(clocks.get(row.room_type_id), row))
        .sort((a, b) => b.check_in_date.localeCompare(a.check_in_date));
    },
  );
  app.get(
    '/v1/channel-manager/pms/reservations/:booking_id/',
    {
      onRequest: pmsGuard,
      schema: {
        ...SHARED,
        operationId: 'pmsGetReservation',
        summary: 'Read a reservation',
        params: BookingPath,
        response: { 200: PmsReservation },
      },
    },
    async (request) => {
      const { tenantId } = request.caller;
      const row = await reservations.get(tenantId, request.params.booking_id);
      return shapeBy(await findRoomType(tenantId, row.room_type_id), row);
    },
  );
}

function shapeBy(clock: Clock | null | undefined, row: ReservationRow): PmsReservation {
  if (!clock) {
    throw new Error('a reservation is of a room type that is gone');
  }
  return pmsShape(row, clock);
}
