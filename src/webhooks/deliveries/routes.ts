import { CredentialPath, type Credentials } from '#access/credentials/credentials.ts';
import { actorOf } from '#access/tenants/tenants.ts';
import { noSuch } from '#platform/errors.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { keysetPageOf, sendPart } from '#platform/http/keyset-page.ts';
import { type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import { deliveryShape, listDeliveries, readDelivery } from './deliveries.ts';
import {
  Delivery,
  DeliveryDetail,
  DeliveryPath,
  DeliveryQuery,
  TestCallOutcome,
  WebhookRegister,
  WebhookRegisterResponse,
} from './schema.ts';
import type { TestCalls } from './test-call.ts';
import { readWebhookUrl } from './webhook-url.ts';

const CALLS_PER_MINUTE = 6;

interface Dependencies {
  db: Database;
  credentials: Credentials;
  testCalls: TestCalls;
  budgets: BudgetStore;
  callerGuard: Guard;
  staffGuard: Guard;
  allowPrivateNetwork: boolean;
  headerBrand: string;
}

export function webhookRoutes(app: App, dependencies: Dependencies): void {
  registrationRoute(app, dependencies);
  deliveryRoutes(app, dependencies);
  testCallRoute(app, dependencies);
}

/** Contract §4, "Shared". */
function registrationRoute(app: App, { credentials, callerGuard, allowPrivateNetwork }: Dependencies): void {
  app.post(
    '/v1/third-party/webhook/',
    {
      onRequest: callerGuard,
      schema: {
        operationId: 'registerWebhook',
        summary: 'Register the URL that events are sent to',
        description:
          'A credential has one URL. It receives the events of the restaurant and of the hotel. A new URL replaces the previous URL. ' +
          'A new URL also gets a new `webhook_secret`. Keep the secret, because only this response shows it. If you register the same ' +
          'URL again, nothing changes, and the response has an empty secret. If you have lost the secret, register another URL, and ' +
          'then register this URL again.\n\n' +
          'The service delivers only to public addresses. A delivery that already waits goes to the URL that is registered when it ' +
          'is sent, and is signed with the secret of that time.',
        tags: ['Webhook'],
        body: WebhookRegister,
        response: { 200: WebhookRegisterResponse },
      },
    },
    async (request) => {
      const url = request.body.webhook_url;
      readWebhookUrl(url, { allowPrivateNetwork });
      return { webhook_url: url, webhook_secret: await credentials.registerWebhook(request.caller, url) };
    },
  );
}

function deliveryRoutes(app: App, { db, staffGuard, headerBrand }: Dependencies): void {
  app.get(
    '/v1/staff/webhook-deliveries/',
    {
      onRequest: staffGuard,
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the webhook deliveries with every attempt',
        description:
          'Lists the deliveries of all partners, newest first. Each attempt shows the status that the receiver answered, the duration, ' +
          'and why the attempt failed. An event that happened while no webhook was registered has no delivery. ' +
          'The filters may be combined. Then the list has only the deliveries that pass all of them. A filter by an unknown id gives ' +
          'an empty list. ' +
          'Deliveries that have ended are kept for 30 days, unless the operator has set another number of days.',
        tags: ['Webhooks'],
        querystring: DeliveryQuery,
        response: { 200: keysetPageOf(Delivery) },
      },
    },
    async ({ staff, query }, reply) => sendPart(reply, await listDeliveries(db, staff.tenant.id, query), deliveryShape),
  );
  app.get(
    '/v1/staff/webhook-deliveries/:id/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('delivery')] },
      schema: {
        operationId: 'getWebhookDelivery',
        summary: 'Read a delivery with its request and the responses',
        description:
          'Returns a delivery with the body as it is signed, the headers of the last attempt without the signature, and the begin of ' +
          'the response to each failed attempt. So staff and partner can compare what was sent with what was received.',
        tags: ['Webhooks'],
        params: DeliveryPath,
        response: { 200: DeliveryDetail },
      },
    },
    async (request) => await readDelivery(db, request.staff.tenant.id, request.params.id, headerBrand),
  );
}

function testCallRoute(app: App, { testCalls, budgets, staffGuard }: Dependencies): void {
  const budget = budgets.budget('test-call', CALLS_PER_MINUTE);
  app.post(
    '/v1/staff/credentials/:id/ping/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('credential'), 'invalid_status_transition', 'rate_limited'], isCountedLate: true },
      schema: {
        operationId: 'sendTestCall',
        summary: "Send a test call to a partner's webhook",
        description:
          'Sends one signed POST to the webhook of the credential, and returns the response of the receiver. The body is ' +
          '`{"test": true, "event_id": "…", "occurred_at": "…"}`. The headers, the signature, the time limit and the refused addresses ' +
          'are the same as for a delivery. But a test call is no event. It is sent once, and is in no feed and no list of deliveries.\n\n' +
          'If the receiver fails, the response is still 200, and `error` says why. A credential that is revoked, that has no ' +
          `webhook or that belongs to a PMS gets 409. At most ${CALLS_PER_MINUTE} calls a minute to one credential are accepted, and ` +
          'at most 4 calls of a tenant at the same time. Further calls get 429.',
        tags: ['Webhooks'],
        params: CredentialPath,
        response: { 200: TestCallOutcome },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request.staff);
      const receiver = await testCalls.findReceiver(actor.tenantId, request.params.id);
      await countCall(budget, receiver.credentialId, reply);
      return await testCalls.send(actor, receiver);
    },
  );
}
