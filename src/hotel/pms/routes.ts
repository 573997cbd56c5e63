import Type from 'typebox';
import { callerActor } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { notFound } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import type { ReadHeldNights } from '../nights/nights.ts';
import {
  listActivePlans,
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
  Inventory,
  InventoryQuery,
  Property,
  PropertyPath,
  RateCalendar,
  RatesQuery,
  RatesWritten,
  ReservationsQuery,
  RestrictionsWritten,
  RoomType,
} from './schema.ts';

interface Dependencies {
  db: Database;
  findRoomType: FindRoomType;
  readHeldNights: ReadHeldNights;
  reservations: Reservations;
  pmsGuard: Guard;
}

/** PMS contract §8. */
const MAX_RESERVATIONS = 200;
const SHARED = { tags: ['PMS'] };
const NO_RATE_PLAN = { status: 404, code: 'error', message: 'No such rate plan.' } as const;

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
        description: 'The active properties, in the order of the tenant document. The list is whole: it has no pages.',
        response: { 200: Type.Array(Property, { description: 'Every active property.' }) },
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
      config: { errors: [{ status: 404, code: 'error', message: 'No such property.' }] },
      schema: {
        ...SHARED,
        operationId: 'pmsListRoomTypes',
        summary: "List a property's room types with their active rate plans",
        description:
          'The active room types of one property, each with the plans that rates and restrictions are written to. A ' +
          'property of another tenant is answered as one that does not exist.',
        params: PropertyPath,
        response: { 200: Type.Array(RoomType, { description: 'Every active room type of the property.' }) },
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
      config: { errors: [{ status: 404, code: 'error', message: 'No such room type.' }] },
      schema: {
        ...SHARED,
        operationId: 'pmsGetInventory',
        summary: 'Read capacity and what is left of a room type, night by night',
        description:
          'Counts rooms and nothing else: a night on which every rate plan is closed still shows what is left. ' +
          'After an oversell `sellable` is below zero. Always up to date, also right after a booking.',
        querystring: InventoryQuery,
        response: { 200: Inventory },
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

function rateRoutes(app: App, { db, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/rates/',
    {
      onRequest: pmsGuard,
      config: { errors: [NO_RATE_PLAN] },
      schema: {
        ...SHARED,
        operationId: 'pmsGetRates',
        summary: 'Read the price of every night under a rate plan',
        description:
          'A night without a price of its own shows the `base_price` of the plan; one that was never closed is not ' +
          'sold out. A plan that is no longer active answers too.',
        querystring: RatesQuery,
        response: { 200: RateCalendar },
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
      config: { errors: [NO_RATE_PLAN] },
      schema: {
        ...SHARED,
        operationId: 'pmsPutRates',
        summary: 'Write prices, all or none',
        description:
          'Writes 1 to 1,000 nights of one plan at once: where one entry is refused, nothing is written. The last ' +
          'entry for a date wins, within a call and between calls, so the same call may be sent again. A date that ' +
          'is left out keeps what it has.\n\n' +
          'Watch `is_sold_out`: where it is left out it is written as false, which opens a night that `stop_sell` ' +
          'had closed.',
        body: RatesWrite,
        response: { 200: RatesWritten },
      },
    },
    async (request) => await writeRates(db, callerActor(request.caller), request.body),
  );
  app.put(
    '/v1/channel-manager/pms/restrictions/',
    {
      onRequest: pmsGuard,
      config: { errors: [NO_RATE_PLAN] },
      schema: {
        ...SHARED,
        operationId: 'pmsPutRestrictions',
        summary: 'Write restrictions, all or none',
        description:
          'Writes 1 to 1,000 entries of one plan at once: where one is refused, nothing is written. `stop_sell` is ' +
          'the same flag as `is_sold_out` of a rate. A price that the night has is kept, and a night without one ' +
          'keeps the `base_price`. The same call may be sent again.\n\n' +
          'Two traps: an entry without `stop_sell` opens its night, also where it was sent for its `min_nights` ' +
          'alone; and `min_nights` is of the whole plan, not of the night, so the last one in the list counts.',
        body: RestrictionsWrite,
        response: { 200: RestrictionsWritten },
      },
    },
    async (request) => ({
      updated: await writeRestrictions(db, callerActor(request.caller), request.body),
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
        description:
          'Reservations of every origin: of partners and of OTAs. The list ends after 200 and has no pages; ask by ' +
          '`status` to see more of those that matter.',
        querystring: ReservationsQuery,
        response: { 200: Type.Array(PmsReservation, { description: 'At most 200, newest check-in first.' }) },
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
      config: { errors: [{ status: 404, code: 'error', message: 'No such reservation.' }] },
      schema: {
        ...SHARED,
        operationId: 'pmsGetReservation',
        summary: 'Read a reservation',
        description:
          'One reservation by its `id`, however old. That of another tenant is answered as one that does not exist.',
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
