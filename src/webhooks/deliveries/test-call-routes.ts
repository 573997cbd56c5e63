import { CredentialPath } from '#access/credentials/credentials.ts';
import { actorOf } from '#access/tenants/tenants.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import type { TestCalls } from './test-call.ts';
import { TestCallOutcome } from './test-call-schema.ts';

/** Maximum number of test calls per minute to the webhook of one credential. */
const CALLS_PER_MINUTE = 6;

const NOT_FOUND = { status: 404, code: 'error', message: 'No such credential.' } as const;

interface Dependencies {
  testCalls: TestCalls;
  budgets: BudgetStore;
  staffGuard: Guard;
}

export function testCallRoutes(app: App, { testCalls, budgets, staffGuard }: Dependencies): void {
  const budget = budgets.budget('test-call', CALLS_PER_MINUTE);
  app.post(
    '/v1/staff/credentials/:id/ping/',
    {
      onRequest: staffGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
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
