import type { RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendPieces } from '#platform/http/list.ts';
import { UnavailableError } from '#platform/errors.ts';
import { FairGate } from '#platform/lib/fair-gate.ts';
import { extentFor } from '#platform/lib/validation.ts';
import { changeDish, readMenuDocument, replaceMenu } from './menu.ts';
import { DishChange, DishPath, MenuDocument, StaffDish } from './schema.ts';

interface Dependencies {
  db: Database;
  changes: RecentChanges;
  staffGuard: Guard;
  /** Maximum size, in bytes, of a menu in the response to partners. */
  maxRenderedBytes: number;
}

interface RouteDependencies extends Dependencies {
  documents: FairGate;
}

const SHARED = { tags: ['Menu'] };
/**
 * Maximum number of menus that are read or written at the same time, with at most one of each tenant. Each menu takes about 100 ms of CPU
 * time and is held in memory.
 */
const DOCUMENTS_AT_ONCE = 2;
const DOCUMENT_WAIT_MS = 30_000;

export function menuStaffRoutes(app: App, dependencies: Dependencies): void {
  const documents = new FairGate({
    limit: DOCUMENTS_AT_ONCE,
    limitOf: () => 1,
    maxWaitMs: DOCUMENT_WAIT_MS,
    waitedTooLong: () => new UnavailableError('Too many calls wait to read or write a menu. Try again.'),
    rests: true,
  });
  documentRoutes(app, { ...dependencies, documents });
  dishRoutes(app, { ...dependencies, documents });
}

function documentRoutes(app: App, { db, changes, documents, staffGuard, maxRenderedBytes }: RouteDependencies): void {
  app.get(
    '/v1/staff/menu/',
    {
      onRequest: staffGuard,
      config: { isStreamed: true },
      schema: {
        ...SHARED,
        operationId: 'getMenuDocument',
        summary: 'Read the menu as a document',
        description:
          'Returns the whole menu with all default values, also the dishes that are off the menu. `PUT` accepts this ' +
          'document, so you can change it and send it back.',
        response: { 200: MenuDocument },
      },
    },
    async (request, reply) => {
      const { id } = request.staff.tenant;
      return await sendPieces(request, reply, () => documents.run(String(id), () => readMenuDocument(db, id)));
    },
  );
  app.put(
    '/v1/staff/menu/',
    {
      onRequest: staffGuard,
      config: { isStreamed: true },
      schema: {
        ...SHARED,
        operationId: 'replaceMenu',
        summary: 'Replace the menu with a document',
        description:
          'Replaces the whole menu. Dishes are matched by `sku`. Sections, variants and add-ons are matched by name. A ' +
          'dish that is not in the document is taken off the menu. It stays stored, because orders refer to it. A ' +
          'section that no dish and no menu set needs any more is removed. A variant or add-on that comes back with its ' +
          'old name gets its old id.\n\n' +
          'The document is applied completely or not at all. An error names the path of each fault. A menu of more ' +
          'than 32 MiB in the response to partners is refused, because each dish is shown with its whole category, ' +
          'kitchen and menu set. Sending the same document again changes nothing. Partners see the new menu ' +
          'immediately on this node, and within a second on every other node. Existing orders do not change.',
        body: MenuDocument,
        response: { 200: MenuDocument },
      },
    },
    async (request, reply) => {
      const { id } = request.staff.tenant;
      const { maxReported } = extentFor(Number(request.headers['content-length']));
      const replace = () => replaceMenu(db, id, request.body, { maxRenderedBytes, maxReported });
      return await sendPieces(request, reply, async () => {
        const menu = await documents.run(String(id), replace);
        await changes.catchUp();
        return menu;
      });
    },
  );
}

function dishRoutes(app: App, { db, changes, documents, staffGuard, maxRenderedBytes }: RouteDependencies): void {
  app.patch(
    '/v1/staff/dishes/:sku/',
    {
      onRequest: staffGuard,
      config: { errors: [{ status: 404, code: 'error', message: 'No such dish.' }] },
      schema: {
        ...SHARED,
        operationId: 'changeDish',
        summary: 'Change a dish, or take it off the menu',
        description:
          'Changes only the fields that are sent. For example, `{"is_active": false}` takes a sold-out dish off the ' +
          'menu. A list (`price_variants`, `addons`, `ingredients`) is replaced as a whole. The category, sub-menu, ' +
          'kitchen and menu set must exist in the menu already. Partners see the change immediately on this node, and ' +
          'within a second on every other node.',
        params: DishPath,
        body: DishChange,
        response: { 200: StaffDish },
      },
    },
    async (request) => {
      const { tenant } = request.staff;
      const change = () => changeDish(db, tenant, request.params.sku, request.body, { maxRenderedBytes });
      const dish = await documents.run(String(tenant.id), change);
      await changes.catchUp();
      return dish;
    },
  );
}
