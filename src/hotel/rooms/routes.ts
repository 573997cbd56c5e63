import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import { etagOf, matchesIfNoneMatch, sendNotModified } from '#platform/http/etag.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes, shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { listRoomTypes } from './rooms.ts';
import { RoomType } from './schema.ts';

export function roomRoutes(app: App, { db, callerGuard }: { db: Database; callerGuard: Guard }): void {
  app.get(
    '/v1/third-party/hotels/rooms/',
    {
      onRequest: callerGuard,
      config: { hasEtag: true },
      schema: {
        operationId: 'listRoomTypes',
        summary: 'List the room types',
        description:
          'Returns all room types that can be booked, of all properties, in the order that the hotel has set. The list does not ' +
          'say how many rooms are left. Call the availability operation for that. Store the response with its `ETag`. If you ' +
          'send the tag in `If-None-Match`, the response is 304 without a body until the list changes.',
        tags: ['Hotel'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(RoomType), pageOf(RoomType)]) },
      },
    },
    async (request, reply) => {
      const body = JSON.stringify(shortList(request, await listRoomTypes(db, request.caller)));
      const etag = etagOf(body);
      reply.header('etag', etag).header('cache-control', 'private, no-cache');
      return matchesIfNoneMatch(request, etag) ? sendNotModified(reply) : sendJsonBytes(reply, body);
    },
  );
}
