import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import { acceptsGzip } from '#platform/http/accept.ts';
import { matchesIfNoneMatch, sendNotModified } from '#platform/http/etag.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLargeJson, sendPageBytes } from '#platform/http/list.ts';
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
          'Lists all dishes that can be ordered now, with their variants and add-ons. An order may contain only these dishes. ' +
          'Keep the response with its `ETag`, and read the menu again every few minutes with `If-None-Match`. If the menu has ' +
          'not changed, the response is 304 without a body. The whole list is compressed if the request accepts gzip.',
        tags: ['Restaurant'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(Dish), pageOf(Dish)]) },
      },
    },
    async (request, reply) => {
      const menu = await readListedMenu(request.caller);
      const wanted = requestedPage(request.query);
      // `pageFrame` refuses a page after the last one (404). It runs before the ETag check, so that such a page gets 404 even with the
      // current ETag.
      const frame = wanted === null ? null : pageFrame(request, wanted, menu.dishes.length);
      const isGzipped = wanted === null && acceptsGzip(request.headers['accept-encoding']);
      const { body, etag } = isGzipped ? menu.gzipped : menu.plain;
      reply.header('etag', etag).header('cache-control', 'private, no-cache').header('vary', 'accept-encoding');
      if (matchesIfNoneMatch(request, etag)) {
        return sendNotModified(reply);
      }
      if (wanted !== null && frame !== null) {
        const offset = offsetOf(wanted);
        return sendPageBytes(reply, frame, menu.dishes.slice(offset, offset + wanted.pageSize));
      }
      return sendLargeJson(isGzipped ? reply.header('content-encoding', 'gzip') : reply, body);
    },
  );
}
