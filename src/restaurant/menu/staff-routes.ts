import Type from 'typebox';
import { actorOf } from '#access/tenants/tenants.ts';
import type { RecentChanges } from '#platform/changes/changes.ts';
import { noSuch } from '#platform/errors.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import { encodedBodyOf } from '#platform/http/body.ts';
import { matchesIfNoneMatch, sendNotModified } from '#platform/http/etag.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes, sendLargeJson } from '#platform/http/list.ts';
import { MAX_DOCUMENT_BYTES } from '#platform/lib/bounds.ts';
import { changeDish, setAvailability } from './dishes.ts';
import { compareMenu, MENU_CHANGED, readMenuDocument, readMenuTag, replaceMenu } from './menu.ts';
import { DishChange, DishPath, MenuDocument, StaffDish } from './schema.ts';
import { AvailabilityChange, DishAvailability, MenuComparison, MenuQuery } from './staff-schema.ts';

interface Dependencies {
  db: Database;
  changes: RecentChanges;
  staffGuard: Guard;
}

const SHARED = { tags: ['Menu'] };

export function menuStaffRoutes(app: App, dependencies: Dependencies): void {
  readingRoute(app, dependencies);
  replacingRoute(app, dependencies);
  dishRoute(app, dependencies);
  availabilityRoute(app, dependencies);
}

function readingRoute(app: App, { db, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/menu/',
    {
      onRequest: staffGuard,
      config: { place: 'bulk', hasEtag: true },
      schema: {
        ...SHARED,
        operationId: 'getMenuDocument',
        summary: 'Read the menu as a document',
        description:
          'Returns the whole menu with all default values, also the dishes that are off the menu. `PUT` accepts this ' +
          'document, so you can change it and send it back. Send the `ETag` of this response as `If-Match` with it. Then the ' +
          '`PUT` never overwrites a change that another person has made in the meantime. Every change of the menu or of a ' +
          'dish changes the `ETag`.',
        response: { 200: MenuDocument },
      },
    },
    async (request, reply) => {
      const { id } = request.staff.tenant;
      const etag = await readMenuTag(db, id);
      reply.header('etag', etag).header('cache-control', 'private, no-cache');
      if (matchesIfNoneMatch(request, etag)) {
        return sendNotModified(reply);
      }
      const menu = await readMenuDocument(db, id);
      // The menu may have changed since its tag was compared with `If-None-Match`. So the response gets the tag of the menu that it
      // contains.
      return sendLargeJson(reply.header('etag', menu.etag), menu.json);
    },
  );
}

function replacingRoute(app: App, { db, changes, staffGuard }: Dependencies): void {
  app.put(
    '/v1/staff/menu/',
    {
      onRequest: staffGuard,
      bodyLimit: MAX_DOCUMENT_BYTES,
      config: {
        place: 'document',
        takesEncodedBody: true,
        takesIfMatch: true,
        refusesUnknownFields: true,
        errors: [MENU_CHANGED],
      },
      schema: {
        ...SHARED,
        operationId: 'replaceMenu',
        summary: 'Replace the menu with a document',
        description:
          'Replaces the whole menu. Dishes are matched by `sku`. Sections, variants and add-ons are matched by name. A ' +
          'dish that is not in the document is taken off the menu. It stays stored, because orders refer to it. A ' +
          'section that no dish and no menu set needs any more is removed. A variant or add-on that comes back with its ' +
          'old name gets its old id.\n\n' +
          'The document is applied completely or not at all. An error names the path of each fault, and a field that the document ' +
          'does not have is a fault too. A menu of more than 16 MiB in the response to partners is refused. Sending the same ' +
          'document again changes nothing. Partners see the new menu immediately on this node, and within a second on every ' +
          'other node. Existing orders do not change.\n\n' +
          'With `If-Match`, the menu is replaced only if it still has the given `ETag`. Otherwise the response is 412, and ' +
          'nothing changes. Of several concurrent calls with the same `ETag`, only one changes the menu. The response of ' +
          '`PUT` has no `ETag`, because the service adds default values. Read the menu to get its `ETag`.',
        querystring: MenuQuery,
        body: MenuDocument,
        response: { 200: Type.Union([MenuDocument, MenuComparison]) },
      },
    },
    async (request, reply) => {
      const { staff, query, headers } = request;
      const { id, currency } = staff.tenant;
      const body = encodedBodyOf(request);
      const ifMatch = headers['if-match'];
      if (query.dry_run === true) {
        return sendJsonBytes(reply, await compareMenu(db, { tenantId: id, currency }, body, ifMatch));
      }
      const document = await replaceMenu(db, actorOf(staff), body, { currency, ifMatch });
      await changes.catchUp();
      return sendLargeJson(reply, document);
    },
  );
}

function dishRoute(app: App, { db, changes, staffGuard }: Dependencies): void {
  app.patch(
    '/v1/staff/dishes/:sku/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('dish')] },
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
      const by = { actor: actorOf(request.staff), currency: tenant.currency };
      const dish = await changeDish(db, by, request.params.sku, request.body);
      await changes.catchUp();
      return dish;
    },
  );
}

function availabilityRoute(app: App, { db, changes, staffGuard }: Dependencies): void {
  app.post(
    '/v1/staff/dishes/availability/',
    {
      onRequest: staffGuard,
      config: { errors: [{ status: 404, code: 'error', message: 'No such dish: "SOUP". No dish was changed.' }] },
      schema: {
        ...SHARED,
        operationId: 'changeAvailability',
        summary: 'Take dishes off the menu, or put them back',
        description:
          'Changes up to 500 dishes in one call, all or none. For example, a kitchen that has run out of fish takes all dishes ' +
          'with fish off the menu. An unknown `sku` gets 404, and then no dish changes. Partners see the change immediately on ' +
          'this node, and within a second on every other node. Existing orders do not change.',
        body: AvailabilityChange,
        response: { 200: Type.Array(DishAvailability) },
      },
    },
    async (request) => {
      const by = { actor: actorOf(request.staff), currency: request.staff.tenant.currency };
      const dishes = await setAvailability(db, by, request.body);
      await changes.catchUp();
      return dishes;
    },
  );
}
