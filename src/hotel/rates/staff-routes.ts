import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { listProperties } from '../rooms/rooms.ts';
import { listActivePlans } from './rates.ts';
import { StaffProperty } from './schema.ts';

interface Dependencies {
  db: Database;
  publicUrl: string | null;
  staffGuard: Guard;
}

/** Properties with their room types and rate plans: here rather than in rooms/, which knows no plans. */
export function propertyStaffRoutes(app: App, { db, publicUrl, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/properties/',
    {
      onRequest: staffGuard,
      schema: {
        operationId: 'listProperties',
        summary: 'List the properties with their room types and rate plans',
        description:
          'The active properties, in the order of the tenant document, each with its active room types and their ' +
          'active rate plans. Prices of single nights are not shown here.',
        tags: ['Properties'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(StaffProperty), pageOf(StaffProperty)]) },
      },
    },
    async (request) => {
      const tenantId = request.person.tenant.id;
      const [properties, plans] = await Promise.all([listProperties(db, tenantId), listActivePlans(db, tenantId)]);
      const shapes = properties.map(({ property: { position, is_active, ...property }, roomTypes }) => ({
        ...property,
        room_types: roomTypes.map(({ position: _, is_active: __, property_id, ...roomType }) => ({
          ...roomType,
          rate_plans: plans.get(roomType.id) ?? [],
        })),
      }));
      return shortList(request, publicUrl, shapes);
    },
  );
}
