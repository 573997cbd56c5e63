import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendJsonBytes } from '../http/list.ts';
import { readFeed } from './feed.ts';
import { FeedPage, FeedQuery } from './schema.ts';

interface Dependencies {
  db: Database;
  callerGuard: Guard;
}

const DEFAULT_LIMIT = 50;

/** What a receiver that was away reads to catch up. Nothing is sent again by it: the contract knows no replay (§6). */
export function feedRoutes(app: App, { db, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/events/',
    {
      onRequest: callerGuard,
      schema: {
        operationId: 'listEvents',
        summary: "Read the credential's own events after a cursor, oldest first, with their delivery",
        tags: ['Webhook'],
        security: [{ apiKey: [], apiSecret: [] }],
        querystring: FeedQuery,
        response: { 200: FeedPage },
      },
    },
    async (request, reply) => {
      const { after = '', limit = DEFAULT_LIMIT } = request.query;
      const page = await readFeed(db, request.caller, after, limit);
      return sendJsonBytes(reply, JSON.stringify(page));
    },
  );
}
