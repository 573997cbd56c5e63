import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes } from '#platform/http/list.ts';
import { endOfFeed, readFeed } from './feed.ts';
import { FeedPage, FeedQuery, LATEST } from './schema.ts';

interface Dependencies {
  db: Database;
  callerGuard: Guard;
  headerBrand: string;
}

const DEFAULT_LIMIT = 50;

/** What a receiver that was away reads to catch up. Nothing is sent again by it: the contract knows no replay (§6). */
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
          'Oldest first, each with what has become of its delivery. What a receiver missed while it was away is read here; ' +
          'nothing is sent again by it. Keep `next` and ask on with it in `after`: no event is skipped, however late it was ' +
          'written, and none is shown twice. Works without a registered webhook. Events are kept for 30 days, or as long as ' +
          'the service is set to keep them. With `X-Webhook-Header-Brand`, whatever reads them can hand them on as the service ' +
          'does.',
        tags: ['Webhook'],
        querystring: FeedQuery,
        response: { 200: FeedPage },
      },
    },
    async (request, reply) => {
      const { after = '', limit = DEFAULT_LIMIT } = request.query;
      const page =
        after === LATEST
          ? { results: [], next: await endOfFeed(db, request.caller) }
          : await readFeed(db, request.caller, after, limit);
      reply.header('X-Webhook-Header-Brand', headerBrand);
      return sendJsonBytes(reply, JSON.stringify(page));
    },
  );
}
