import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { Today, TodayQuery } from './schema.ts';
import { readToday } from './today.ts';

export function todayRoutes(app: App, { db, anyGuard }: { db: Database; anyGuard: Guard }): void {
  app.get(
    '/v1/staff/today/',
    {
      onRequest: anyGuard,
      schema: {
        operationId: 'getToday',
        summary: 'Read the state of the house now',
        description:
          'Returns, in one response, the receivers that fail, the oversold nights, the orders, the stays and the partners of the house ' +
          'now. Every signed-in person or display may call this operation. A part that the caller may not see, or for which the tenant ' +
          'has no restaurant or no hotel, is null. The operation stays fast with any number of orders, so a page may call it after each ' +
          'hint of `GET /v1/staff/changes/`.',
        tags: ['Reports'],
        querystring: TodayQuery,
        response: { 200: Today },
      },
    },
    async ({ staff, query }) => await readToday(db, staff, query),
  );
}
