import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import type { LiveChanges } from './live-changes.ts';
import { LiveChange, LiveStream } from './schema.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** A worker's app has none. */
    liveChanges?: LiveChanges;
  }
}

/** `no-transform` and `X-Accel-Buffering` forbid proxies to compress or buffer a stream, because this would delay its events. */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

interface Dependencies {
  liveChanges: LiveChanges;
  /** Guard for signed-in people and displays. If a person opens a stream, the guard does not count this as a use of the session. */
  streamGuard: Guard;
}

export function liveChangeRoutes(app: App, { liveChanges, streamGuard }: Dependencies): void {
  app.decorate('liveChanges', liveChanges);
  app.addHook('preClose', async () => liveChanges.stop());
  app.get(
    '/v1/staff/changes/',
    {
      onRequest: streamGuard,
      config: { eventSchema: LiveChange },
      schema: {
        operationId: 'watchChanges',
        summary: 'Watch for changes of the data of the tenant',
        description:
          'Returns a stream of events (`text/event-stream`) that stays open. If any process of the service changes data, the stream ' +
          'sends a hint within about a second. The hint names the kind of data, but has no data, so read again the data that you show. ' +
          'You get hints only of data that you may read.\n\n' +
          'Each stream begins with the event `resync`. Then read all data that you show. The event also comes later if changes may be ' +
          'missing. The event `change` has a `LiveChange`. The event `bye` says that the process stops. Wait for the milliseconds in its ' +
          'field `retry`, and call again. A comment `: beat` with the time of the server comes at the beginning and every 10 seconds. If ' +
          'you get no event and no comment for 30 seconds, call again.\n\n' +
          'A stream ends after 30 minutes. It also ends within 2 seconds after the caller loses its access, or gets another role or ' +
          'other areas. Then call again. A person or a display may have 20 open streams, and a tenant 200. An open stream of a display ' +
          'is a use of its session, and an open stream of a person is not. `EventSource` of browsers cannot send the headers of a ' +
          'session, so a page reads the stream with `fetch`.',
        tags: ['Live changes'],
        response: { 200: LiveStream },
      },
    },
    async (request, reply) => {
      // A stream is silent for most of its time, so it keeps no place at the door.
      request.place?.leave();
      if (request.method === 'HEAD') {
        takeOver(reply).end();
      } else if (reply.raw.destroyed) {
        reply.hijack(); // The client closed the connection during authentication.
      } else {
        open(liveChanges, request, reply);
      }
      return reply;
    },
  );
}

function open(liveChanges: LiveChanges, request: FastifyRequest, reply: FastifyReply): void {
  liveChanges.refuseTooMany(request.staff);
  const response = takeOver(reply);
  // A client that leaves ends its half of the connection first. Without this, the stream would end only at its next write.
  const leave = () => response.destroy();
  request.raw.socket.once('end', leave);
  response.once('close', () => request.raw.socket.off('end', leave));
  liveChanges.open(request.staff, response);
}

function takeOver(reply: FastifyReply): ServerResponse {
  const { raw } = reply.headers(HEADERS).hijack();
  return raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
}
