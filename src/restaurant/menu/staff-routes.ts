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
  /** Bytes of a menu as partners read it, at most. */
  maxRenderedBytes: number;
}

interface RouteDependencies extends Dependencies {
  documents: FairGate;
}

const SHARED = { tags: ['Menu'] };
/** Menus that are read or written whole at once, one of a tenant: each takes some 100 ms of Node, and is held in memory. */
const DOCUMENTS_AT_ONCE = 2;
const DOCUMENT_WAIT_MS = 30_000;

export function menuStaffRoutes(app: App, dependencies: Dependencies): void {
  const documents = new FairGate({
    limit: DOCUMENTS_AT_ONCE,
    limitOf: () => 1,
    maxWaitMs: DOCUMENT_WAIT_MS,
    waitedTooLong: () => new UnavailableError('Too many menus wait to be read or written whole.'),
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
          'The whole menu, dishes that are off it included, with every default written out: what `PUT` takes. Change ' +
          'what you read and send it back.',
        response: { 200: MenuDocument },
      },
    },
    async (request, reply) => {
      const { id } = request.person.tenant;
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
        summary: 'Bring the menu to what the document says',
        description:
          'Dishes are matched by `sku`, everything else by name. The document is the whole menu: a dish that it ' +
          'does not name is taken off the menu (kept, because orders refer to it), and a section that nothing needs ' +
          'any more is gone. A variant or add-on that comes back under its old name has its old id.\n\n' +
          'All of it is applied or nothing; every fault is named by its path. A menu above 32 MiB as partners read it is refused: ' +
          'each dish is shown with its whole category, kitchen and menu set. The same document again changes ' +
          'nothing. Partners see the new menu at once from this node, within a second from every other. Orders keep ' +
          'what they were placed with.',
        body: MenuDocument,
        response: { 200: MenuDocument },
      },
    },
    async (request, reply) => {
      const { id } = request.person.tenant;
      const { maxTold } = extentFor(Number(request.headers['content-length']));
      const replace = () => replaceMenu(db, id, request.body, { maxRenderedBytes, maxTold });
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
      const { tenant } = request.person;
      const change = () => changeDish(db, tenant, request.params.sku, request.body, { maxRenderedBytes });
      const dish = await documents.run(String(tenant.id), change);
      await changes.catchUp();
      return dish;
    },
  );
}
