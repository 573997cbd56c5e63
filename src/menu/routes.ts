import Type from 'typebox';
import type { App } from '../http/app.ts';
import { hasCurrent, sendNotModified } from '../http/etag.ts';
import type { Guard } from '../http/guard.ts';
import { sendJsonBytes, shortList } from '../http/list.ts';
import { PageQuery, pageOf, requestedPage } from '../http/paging.ts';
import type { ReadListedMenu } from './menu.ts';
import { Dish } from './schema.ts';

interface Dependencies {
  readListedMenu: ReadListedMenu;
  publicUrl: string | null;
  callerGuard: Guard;
}

export function menuRoutes(app: App, { readListedMenu, publicUrl, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/menu/',
    {
      onRequest: callerGuard,
      schema: {
        operationId: 'getMenu',
        summary: 'Read the menu',
        tags: ['Restaurant'],
        security: [{ apiKey: [], apiSecret: [] }],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(Dish), pageOf(Dish)]) },
      },
    },
    async (request, reply) => {
      const menu = await readListedMenu(request.caller);
      // A page is rendered for its asker, or refused (404) whatever the asker has already.
      const page = requestedPage(request.query) === null ? null : shortList(request, publicUrl, menu.dishes);
      reply.header('etag', menu.etag).header('cache-control', 'private, no-cache');
      if (hasCurrent(request, menu.etag)) {
        return sendNotModified(reply);
      }
      // The whole menu is sent as the bytes that were rendered once for this version.
      return page ?? sendJsonBytes(reply, menu.body);
    },
  );
}
