import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import type { LiveChanges } from './live-changes.ts';
import { LiveChange, LiveStream } from './schema.ts';
import { Subscription } from './subscription.ts';

interface Dependencies {
  liveChanges: LiveChanges;
  /** Guard for signed-in people and displays. If a person opens a stream, the guard does not count this as a use of the session. */
  streamGuard: Guard;
}

export function liveChangeRoutes(app: App, { liveChanges, streamGuard }: Dependencies): void {
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
      if (request.method === 'HEAD') {
        app.eventStreams.sendHead(reply);
        return reply;
      }
      if (reply.raw.destroyed) {
        return reply.hijack(); // The client closed the connection during authentication.
      }
      const owner = { tenantId: request.staff.tenant.id, callerId: request.staff.id };
      const subscription = new Subscription(request.staff, (take) =>
        app.eventStreams.open(request, reply, owner, take),
      );
      reply.raw.once('close', () => liveChanges.remove(subscription));
      liveChanges.add(subscription);
      return reply;
    },
  );
}
