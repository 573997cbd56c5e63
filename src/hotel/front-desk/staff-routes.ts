/** Views of staff over several rooms of the hotel wing: properties with their rooms and plans, and the calendar. */
import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendTexts } from '#platform/http/list.ts';
import { calendarTexts, findCalendar } from './calendar.ts';
import { listActivePlans } from '../rates/rates.ts';
import { listProperties } from '../rooms/rooms.ts';
import { CalendarQuery, StaffCalendar, StaffProperty } from './schema.ts';

export function propertyStaffRoutes(app: App, { db, staffGuard }: { db: Database; staffGuard: Guard }): void {
  app.get(
    '/v1/staff/properties/',
    {
      onRequest: staffGuard,
      schema: {
        operationId: 'listProperties',
        summary: 'List the properties with their room types and rate plans',
        description:
          'Lists the active properties, in the order of the tenant document, each with its active room types and their ' +
          'active rate plans. The list does not show the prices of single nights.',
        tags: ['Properties'],
        response: { 200: Type.Array(StaffProperty) },
      },
    },
    async (request) => await listStaffProperties(db, request.staff.tenant.id),
  );
}

export function calendarStaffRoutes(app: App, { db, staffGuard }: { db: Database; staffGuard: Guard }): void {
  app.get(
    '/v1/staff/calendar/',
    {
      onRequest: staffGuard,
      config: { place: 'long', errors: [noSuch('property')] },
      schema: {
        operationId: 'getCalendar',
        summary: 'Read the rooms, prices and closed nights of a property, night by night',
        description:
          'Returns up to 400 nights of one property: for each active room type the rooms that are held, and for each of its active ' +
          'rate plans the price and the restriction of each night. The response is streamed. The service reads the room types one ' +
          'after the other while it sends the response. So the values of two room types may be of different moments.',
        tags: ['Calendar'],
        querystring: CalendarQuery,
        response: { 200: StaffCalendar },
      },
    },
    async (request, reply) => {
      const tenantId = request.staff.tenant.id;
      const calendar = await findCalendar(db, tenantId, request.query);
      return await sendTexts(request, reply, () => calendarTexts(db, tenantId, calendar));
    },
  );
}

/** The serializer leaves out the columns that the schema of the response does not have. */
async function listStaffProperties(db: Database, tenantId: number): Promise<StaffProperty[]> {
  const [properties, plans] = await Promise.all([listProperties(db, tenantId), listActivePlans(db, tenantId)]);
  return properties.map(({ property, roomTypes }) => ({
    ...property,
    room_types: roomTypes.map((roomType) => ({ ...roomType, rate_plans: plans.get(roomType.id) ?? [] })),
  }));
}
