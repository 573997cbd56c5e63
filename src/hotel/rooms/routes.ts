import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import { etagOf, hasCurrent, sendNotModified } from '#platform/http/etag.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes, shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { listRoomTypes } from './rooms.ts';
import { RoomType } from './schema.ts';

interface Dependencies {
  db: Database;
  callerGuard: Guard;
}

export function roomRoutes(app: App, { db, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/rooms/',
    {
      onRequest: callerGuard,
      config: { hasEtag: true },
      schema: {
        operationId: 'listRoomTypes',
        summary: 'List the room types',
        description:
          'Every room type that can be booked, of all properties, in the order in which the house keeps them. How many rooms are ' +
          'left is not said here: ask for the availability. Keep the answer with its `ETag`; until something changes, 304 is ' +
          'answered without a body.',
        tags: ['Hotel'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(RoomType), pageOf(RoomType)]) },
      },
    },
    async (request, reply) => {
      const body = JSON.stringify(shortList(request, await listRoomTypes(db, request.caller)));
      const etag = etagOf(body);
      reply.header('etag', etag).header('cache-control', 'private, no-cache');
      return hasCurrent(request, etag) ? sendNotModified(reply) : sendJsonBytes(reply, body);
    },
  );
}
