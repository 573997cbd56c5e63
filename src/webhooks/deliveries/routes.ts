import type { Credentials } from '#access/credentials/credentials.ts';
import { invalidField } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { WebhookRegister, WebhookRegisterResponse } from './schema.ts';
import { checkWebhookUrl } from './webhook-url.ts';

interface Dependencies {
  credentials: Credentials;
  callerGuard: Guard;
  allowPrivateNetwork: boolean;
}

/** Registration of the one webhook a credential has (contract §4, "Shared"). */
export function webhookRoutes(app: App, { credentials, callerGuard, allowPrivateNetwork }: Dependencies): void {
  app.post(
    '/v1/third-party/webhook/',
    {
      onRequest: callerGuard,
      schema: {
        operationId: 'registerWebhook',
        summary: 'Register the URL that events are sent to',
        description:
          'A credential has one URL, for the events of restaurant and hotel alike; another URL takes the place of the one before. ' +
          'A new URL brings a new `webhook_secret`, in this answer alone: keep it. Registering the same URL again changes ' +
          'nothing and answers with an empty secret. Where the secret was lost, register another URL and then this one again.\n\n' +
          'Deliveries go to public addresses only. Those that wait already go to the URL and under the secret of the time at ' +
          'which they are sent.',
        tags: ['Webhook'],
        body: WebhookRegister,
        response: { 200: WebhookRegisterResponse },
      },
    },
    async (request) => {
      const url = request.body.webhook_url;
      const check = checkWebhookUrl(url, { allowPrivateNetwork });
      if (!check.ok) {
        throw invalidField('webhook_url', check.reason);
      }
      return { webhook_url: url, webhook_secret: await credentials.registerWebhook(request.caller, url) };
    },
  );
}
