import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { listStaffProperties } from './front-desk.ts';
import { StaffProperty } from './schema.ts';

interface Dependencies {
  db: Database;
  staffGuard: Guard;
}

export function propertyStaffRoutes(app: App, { db, staffGuard }: Dependencies): void {
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
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(StaffProperty), pageOf(StaffProperty)]) },
      },
    },
    async (request) => shortList(request, await listStaffProperties(db, request.staff.tenant.id)),
  );
}
