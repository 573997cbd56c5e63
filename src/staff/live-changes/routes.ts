import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import type { LiveChanges } from './live-changes.ts';
import { LiveChange, LiveStream } from './schema.ts';

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
          'The event `change` has a `LiveChange`. The event `resync` says that changes may be missing, so read all data again. The event ' +
          '`bye` says that the process stops. Wait for the milliseconds in its field `retry`, and call again. A comment `: beat` comes ' +
          'at the beginning and every 10 seconds. If you get no event and no comment for 30 seconds, call again.\n\n' +
          'Send the last `id` that you got in the header `Last-Event-ID`. The stream then begins with the changes that you missed, even ' +
          'if another process handles the call. If the id is older than 30 seconds, the stream begins with `resync`.\n\n' +
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
      const { raw: response } = reply;
      if (response.destroyed) {
        return reply.hijack(); // The client closed the connection during authentication.
      }
      app.eventStreams.admit({ tenantId: request.staff.tenant.id, callerId: request.staff.id }, reply);
      const subscription = await liveChanges.subscribe(request.staff, lastEventIdOf(request.headers));
      if (response.destroyed) {
        liveChanges.unsubscribe(subscription);
        return reply.hijack();
      }
      response.once('close', () => liveChanges.unsubscribe(subscription));
      subscription.attach(app.eventStreams.open(request, reply, subscription));
      return reply;
    },
  );
}

/** Returns the header `Last-Event-ID`. Repeated headers give one text with a comma, which is no valid id. */
function lastEventIdOf(headers: Record<string, string | string[] | undefined>): string | undefined {
  const value = headers['last-event-id'];
  return typeof value === 'object' ? value.join() : value;
}
