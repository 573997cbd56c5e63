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
  const shared = { tags: ['Menu'] };
  app.get(
    '/v1/staff/menu/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'getMenuDocument',
        summary: 'Read the menu as a document',
        description:
          'The whole menu, dishes that are off it included, with every default written out: what `PUT` takes. Change ' +
          'what you read and send it back.',
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
        description:
          'Dishes are matched by `sku`, everything else by name. The document is the whole menu: a dish that it ' +
          'does not name is taken off the menu (kept, because orders refer to it), and a section that nothing needs ' +
          'any more is gone. A variant or add-on that comes back under its old name has its old id.\n\n' +
          'All of it is applied or nothing; every fault is named by its path. The same document again changes ' +
          'nothing. Partners see the new menu at once from this node, within a second from every other. Orders keep ' +
          'what they were placed with.',
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
      config: { errors: [{ status: 404, code: 'error', message: 'No such dish.' }] },
      schema: {
        ...shared,
        operationId: 'changeDish',
        summary: 'Change a dish, or take it off the menu',
        description:
          'Changes the fields that are sent and no others: `{"is_active": false}` is what the kitchen needs when ' +
          'something has run out. A list (`price_variants`, `addons`, `ingredients`) is replaced as a whole. ' +
          'Category, sub-menu, kitchen and menu set must be on the menu already. Partners see it as soon as a new ' +
          'menu.',
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
