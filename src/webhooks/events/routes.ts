import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes } from '#platform/http/list.ts';
import { readFeed } from './feed.ts';
import { FeedPage, FeedQuery } from './schema.ts';

interface Dependencies {
  db: Database;
  callerGuard: Guard;
  headerBrand: string;
}

/** The feed sends no event again, because the contract has no replay (§6). */
export function feedRoutes(app: App, { db, callerGuard, headerBrand }: Dependencies): void {
  app.get(
    '/v1/third-party/events/',
    {
      onRequest: callerGuard,
      config: { namesHeaderBrand: true },
      schema: {
        operationId: 'listEvents',
        summary: "Read the credential's events after a cursor",
        description:
          'Lists the events of the credential, oldest first, each with the state of its delivery. Use it to read the events that ' +
          'your receiver missed while it was down. Reading an event does not send it again. Keep `next`, and send it as `after` in ' +
          'the next call. Then no event is skipped, even if it was written late, and no event is shown twice. The feed works ' +
          'without a registered webhook. Events are kept for 30 days, unless the operator has set another number of days. The header ' +
          '`X-Webhook-Header-Brand` names the brand in the headers of deliveries, so that a client can forward events with the ' +
          'same headers.',
        tags: ['Webhook'],
        querystring: FeedQuery,
        response: { 200: FeedPage },
      },
    },
    async (request, reply) => {
      const page = await readFeed(db, request.caller, request.query);
      reply.header('X-Webhook-Header-Brand', headerBrand);
      return sendJsonBytes(reply, JSON.stringify(page));
    },
  );
}
