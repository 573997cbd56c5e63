import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendJsonBytes } from '../http/list.ts';
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
      schema: {
        operationId: 'listEvents',
        summary: "Read the credential's own events after a cursor, oldest first, with their delivery",
        description:
          'The header `X-Webhook-Header-Brand` of the answer names the brand in the header names of a delivery, so that what reads ' +
          'the feed can hand events on as the service does.',
        tags: ['Webhook'],
        security: [{ apiKey: [], apiSecret: [] }],
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
