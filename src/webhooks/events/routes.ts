import type { FastifyReply } from 'fastify';
import { CredentialPath } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { keysetPageOf, sendPart } from '#platform/http/keyset-page.ts';
import { sendJsonBytes } from '#platform/http/list.ts';
import { feedOfPartner, listEvents, readFeed, staffEventShape } from './feed.ts';
import { FeedPage, FeedQuery, StaffEvent, StaffEventQuery } from './schema.ts';

interface Dependencies {
  db: Database;
  callerGuard: Guard;
  staffGuard: Guard;
  headerBrand: string;
}

export function eventRoutes(app: App, dependencies: Dependencies): void {
  partnerRoute(app, dependencies);
  staffRoutes(app, dependencies);
}

/** The feed sends no event again, because the contract has no replay (§6). */
function partnerRoute(app: App, { db, callerGuard, headerBrand }: Dependencies): void {
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
    async ({ caller, query }, reply) => sendFeed(reply, await readFeed(db, caller, query), headerBrand),
  );
}

function staffRoutes(app: App, { db, staffGuard, headerBrand }: Dependencies): void {
  app.get(
    '/v1/staff/events/',
    {
      onRequest: staffGuard,
      schema: {
        operationId: 'listStaffEvents',
        summary: 'List the events of all partners',
        description:
          'Lists the events of all partners, newest first, each with the state of its delivery. An event that happened while no ' +
          'webhook was registered has no delivery, but the partner finds it in its feed. The filters may be combined. Then the list has only the events that pass all of them. A filter by an ' +
          'unknown id gives an empty list. Events are kept for 30 days, unless the operator has set another number of days.',
        tags: ['Webhooks'],
        querystring: StaffEventQuery,
        response: { 200: keysetPageOf(StaffEvent) },
      },
    },
    async ({ staff, query }, reply) => sendPart(reply, await listEvents(db, staff.tenant.id, query), staffEventShape),
  );
  app.get(
    '/v1/staff/credentials/:id/feed/',
    {
      onRequest: staffGuard,
      config: { namesHeaderBrand: true, errors: [noSuch('credential')] },
      schema: {
        operationId: 'getPartnerFeed',
        summary: "Read a partner's feed as the partner would",
        description:
          'Returns what the partner gets from `GET /v1/third-party/events/` with the same `after` and `limit`: the same events, ' +
          'the same cursors and the same headers. Use it if a partner asks for events that it misses. A new event ' +
          'gets its position in the feed at the first read. This read may be your call or a call of the partner. Your call sends ' +
          'no event, and changes nothing else for the partner. The feed of a revoked credential can be read too.',
        tags: ['Webhooks'],
        params: CredentialPath,
        querystring: FeedQuery,
        response: { 200: FeedPage },
      },
    },
    async ({ staff, params, query }, reply) =>
      sendFeed(reply, await feedOfPartner(db, staff.tenant.id, params.id, query), headerBrand),
  );
}

function sendFeed(reply: FastifyReply, page: FeedPage, headerBrand: string): never {
  return sendJsonBytes(reply.header('X-Webhook-Header-Brand', headerBrand), JSON.stringify(page));
}
