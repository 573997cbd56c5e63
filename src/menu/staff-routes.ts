import type { RecentChanges } from '../changes/changes.ts';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { changeDish, readMenuDocument, replaceMenu } from './menu.ts';
import { DishChange, DishPath, MenuDocument, StaffDish } from './schema.ts';

interface Dependencies {
  db: Database;
  changes: RecentChanges;
  staffGuard: Guard;
}

export function menuStaffRoutes(app: App, { db, changes, staffGuard }: Dependencies): void {
  const shared = { tags: ['Menu'], security: [{ bearer: [] }] };
  app.get(
    '/v1/staff/menu/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'getMenuDocument',
        summary: 'Read the menu as a document',
        response: { 200: MenuDocument },
      },
    },
    async (request) => await readMenuDocument(db, request.person.tenant.id),
  );
  app.put(
    '/v1/staff/menu/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'replaceMenu',
        summary: 'Bring the menu to what the document says',
        body: MenuDocument,
        response: { 200: MenuDocument },
      },
    },
    async (request) => {
      const menu = await replaceMenu(db, request.person.tenant.id, request.body);
      await changes.catchUp();
      return menu;
    },
  );
  app.patch(
    '/v1/staff/dishes/:sku/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'changeDish',
        summary: 'Change a dish, or take it off the menu',
        params: DishPath,
        body: DishChange,
        response: { 200: StaffDish },
      },
    },
    async (request) => {
      const dish = await changeDish(db, request.person.tenant, request.params.sku, request.body);
      await changes.catchUp();
      return dish;
    },
  );
}
