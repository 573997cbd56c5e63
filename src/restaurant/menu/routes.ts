import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import { acceptsGzip } from '#platform/http/content-encoding.ts';
import { hasCurrent, sendNotModified } from '#platform/http/etag.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes, sendPageBytes } from '#platform/http/list.ts';
import { offsetOf, PageQuery, pageFrame, pageOf, requestedPage } from '#platform/http/paging.ts';
import type { ReadListedMenu } from './menu.ts';
import { Dish } from './schema.ts';

interface Dependencies {
  readListedMenu: ReadListedMenu;
  callerGuard: Guard;
}

export function menuRoutes(app: App, { readListedMenu, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/menu/',
    {
      onRequest: callerGuard,
      config: { hasEtag: true },
      schema: {
        operationId: 'getMenu',
        summary: 'Read the menu',
        description:
          'Every dish that can be ordered now, with its variants and add-ons: what is listed here is accepted in an order, and ' +
          'nothing else is. Keep the answer with its `ETag` and ask again every few minutes: until something changes, 304 is ' +
          'answered without a body. The whole list comes compressed where the caller accepts gzip.',
        tags: ['Restaurant'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(Dish), pageOf(Dish)]) },
      },
    },
    async (request, reply) => {
      const menu = await readListedMenu(request.caller);
      const wanted = requestedPage(request.query);
      // A page that is past the end is refused (404) whatever the asker has already.
      const frame = wanted === null ? null : pageFrame(request, wanted, menu.dishes.length);
      const isGzipped = wanted === null && acceptsGzip(request.headers['accept-encoding']);
      const { body, etag } = isGzipped ? menu.gzipped : menu.plain;
      reply.header('etag', etag).header('cache-control', 'private, no-cache').header('vary', 'accept-encoding');
      if (hasCurrent(request, etag)) {
        return sendNotModified(reply);
      }
      if (wanted !== null && frame !== null) {
        const offset = offsetOf(wanted);
        return sendPageBytes(reply, frame, menu.dishes.slice(offset, offset + wanted.pageSize));
      }
      // The whole menu is sent as the bytes that were rendered once for this version.
      return sendJsonBytes(isGzipped ? reply.header('content-encoding', 'gzip') : reply, body);
    },
  );
}
