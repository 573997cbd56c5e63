/** The PMS API: routes and schemas over rooms, rates, nights and reservations. */
import Type from 'typebox';
import { callerActor } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { noSuch, orNotFound } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import type { ReadHeldNights } from '../nights/nights.ts';
import {
  checkPrices,
  listActivePlans,
  RatesWrite,
  RestrictionsWrite,
  readRates,
  writeRates,
  writeRestrictions,
} from '../rates/rates.ts';
import { checkRange, findStay, PmsReservation, pmsShape, readByCheckIn } from '../reservations/reservations.ts';
import { type FindRoomType, findProperty, listProperties, readClocks } from '../rooms/rooms.ts';
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
  pmsGuard: Guard;
}

/** Largest number of reservations in the list of the PMS API (PMS contract §8). */
const MAX_RESERVATIONS = 200;

export function pmsRoutes(app: App, dependencies: Dependencies): void {
  roomRoutes(app, dependencies);
  inventoryRoute(app, dependencies);
  rateRoutes(app, dependencies);
  restrictionsRoute(app, dependencies);
  reservationRoutes(app, dependencies);
}

function roomRoutes(app: App, { db, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/properties/',
    {
      onRequest: pmsGuard,
      schema: {
        tags: ['PMS'],
        operationId: 'pmsListProperties',
        summary: 'List the properties',
        description: 'Lists all active properties, in the order of the tenant document. The list has no pages.',
        response: { 200: Type.Array(Property, { description: 'All active properties.' }) },
      },
    },
    // The serializer leaves out the columns that the schema of the response does not have, also in the list of room types.
    async (request) => (await listProperties(db, request.caller.tenantId)).map(({ property }) => property),
  );
  app.get(
    '/v1/channel-manager/pms/properties/:property_id/room-types/',
    {
      onRequest: pmsGuard,
      config: { errors: [noSuch('property')] },
      schema: {
        tags: ['PMS'],
        operationId: 'pmsListRoomTypes',
        summary: 'List the room types of a property with their active rate plans',
        description:
          'Lists the active room types of one property, each with its active rate plans. The calls for rates and restrictions ' +
          'take the ids of these plans. A property of another tenant gets the same response as an unknown one.',
        params: PropertyPath,
        response: { 200: Type.Array(RoomType, { description: 'All active room types of the property.' }) },
      },
    },
    async (request) => {
      const { tenantId } = request.caller;
      const [{ roomTypes }, plans] = await Promise.all([
        findProperty(db, tenantId, request.params.property_id),
        listActivePlans(db, tenantId),
      ]);
      return roomTypes.map((roomType) => ({ ...roomType, rate_plans: plans.get(roomType.id) ?? [] }));
    },
  );
}

function inventoryRoute(app: App, { findRoomType, readHeldNights, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/inventory/',
    {
      onRequest: pmsGuard,
      config: { place: 'long', errors: [noSuch('room type')] },
      schema: {
        tags: ['PMS'],
        operationId: 'pmsGetInventory',
        summary: 'Read the capacity and the sellable rooms of a room type, night by night',
        description:
          'The inventory counts rooms and ignores closed nights. A night on which all rate plans are sold out still shows its ' +
          'free rooms. After an oversell `sellable` is negative. The numbers are always current, also directly after a booking.',
        querystring: InventoryQuery,
        response: { 200: Inventory },
      },
    },
    async (request) => {
      const { room_type_id, check_in, check_out } = request.query;
      const { tenantId } = request.caller;
      checkRange(request.query);
      const { physical_capacity } = orNotFound(await findRoomType(tenantId, room_type_id), 'room type');
      const nights = await readHeldNights({ tenant_id: tenantId, room_type_id, check_in, check_out });
      return nights.map(({ date, held }) => ({ date, physical_capacity, sellable: physical_capacity - held }));
    },
  );
}

function rateRoutes(app: App, { db, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/rates/',
    {
      onRequest: pmsGuard,
      config: { place: 'long', errors: [noSuch('rate plan')] },
      schema: {
        tags: ['PMS'],
        operationId: 'pmsGetRates',
        summary: 'Read the price of each night under a rate plan',
        description:
          'A night that has no price of its own shows the `base_price` of the plan. A night that was never closed is not sold ' +
          'out. The call also works for an inactive plan.',
        querystring: RatesQuery,
        response: { 200: RateCalendar },
      },
    },
    async ({ caller, query }) => {
      checkRange(query);
      return await readRates(db, caller.tenantId, query);
    },
  );
  app.put(
    '/v1/channel-manager/pms/rates/',
    {
      onRequest: pmsGuard,
      config: { place: 'bulk', errors: [noSuch('rate plan')] },
      schema: {
        tags: ['PMS'],
        operationId: 'pmsPutRates',
        summary: 'Write the prices of nights under a rate plan',
        description:
          'Writes 1 to 1,000 entries of one plan. If one entry is refused, the call writes no entry. The last entry for a date ' +
          'wins, within a call and between calls, so the same call may be sent again. A date without an entry keeps its price ' +
          'and its state.\n\n' +
          'A missing `is_sold_out` is written as false. So it opens a night that `stop_sell` had closed.',
        body: RatesWrite,
        response: { 200: RatesWritten },
      },
    },
    async ({ caller, body }) => {
      checkPrices('rates', body.rates, caller.currency);
      return await writeRates(db, callerActor(caller), body);
    },
  );
}

function restrictionsRoute(app: App, { db, pmsGuard }: Dependencies): void {
  app.put(
    '/v1/channel-manager/pms/restrictions/',
    {
      onRequest: pmsGuard,
      config: { place: 'bulk', errors: [noSuch('rate plan')] },
      schema: {
        tags: ['PMS'],
        operationId: 'pmsPutRestrictions',
        summary: 'Write the restrictions of a rate plan',
        description:
          'Writes 1 to 1,000 entries of one plan. If one entry is refused, the call writes no entry. `stop_sell` is the same ' +
          'flag as `is_sold_out` of a rate. The night keeps its price, or the `base_price` if it has no price of its own. The ' +
          'same call may be sent again.\n\n' +
          'An entry without `stop_sell` opens its night, even if you send the entry only for its `min_nights`.',
        body: RestrictionsWrite,
        response: { 200: RestrictionsWritten },
      },
    },
    async ({ caller, body }) => ({ updated: await writeRestrictions(db, callerActor(caller), body) }),
  );
}

function reservationRoutes(app: App, { db, findRoomType, pmsGuard }: Dependencies): void {
  app.get(
    '/v1/channel-manager/pms/reservations/',
    {
      onRequest: pmsGuard,
      config: { place: 'long' },
      schema: {
        tags: ['PMS'],
        operationId: 'pmsListReservations',
        summary: 'List at most 200 reservations, with the latest check-in first',
        description:
          'Lists the reservations of partners, of OTAs and of the hotel itself. The list has at most 200 reservations and no pages, ' +
          'so it may leave out those with the earliest check-in. Use `status` to list up to 200 reservations with one status.',
        querystring: ReservationsQuery,
        response: {
          200: Type.Array(PmsReservation, { description: 'At most 200 reservations, with the latest check-in first.' }),
        },
      },
    },
    async (request) => {
      const { tenantId } = request.caller;
      const rows = await readByCheckIn(db, { tenantId, status: request.query.status, limit: MAX_RESERVATIONS });
      const clocks = await readClocks(db, tenantId);
      // The database sorts the reservations by the local date of check-in. The response is sorted by the check-in time in UTC. The two
      // orders may differ, because the properties may have different time zones.
      return rows
        .map((row) => pmsShape(row, orNotFound(clocks.get(row.room_type_id), 'room type')))
        .sort((a, b) => b.check_in_date.localeCompare(a.check_in_date));
    },
  );
  app.get(
    '/v1/channel-manager/pms/reservations/:booking_id/',
    {
      onRequest: pmsGuard,
      config: { errors: [noSuch('reservation')] },
      schema: {
        tags: ['PMS'],
        operationId: 'pmsGetReservation',
        summary: 'Read a reservation',
        description:
          'Returns one reservation by its `id`, even if the list no longer shows it. A reservation of another tenant gets the ' +
          'same response as an unknown one.',
        params: BookingPath,
        response: { 200: PmsReservation },
      },
    },
    async (request) => {
      const { tenantId } = request.caller;
      const row = await findStay(db, tenantId, request.params.booking_id);
      return pmsShape(row, orNotFound(await findRoomType(tenantId, row.room_type_id), 'room type'));
    },
  );
}
