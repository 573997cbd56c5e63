import type { Credentials } from '#access/credentials/credentials.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { WebhookRegister, WebhookRegisterResponse } from './schema.ts';
import { readWebhookUrl } from './webhook-url.ts';

interface Dependencies {
  credentials: Credentials;
  callerGuard: Guard;
  allowPrivateNetwork: boolean;
}

/** Contract §4, "Shared". */
export function webhookRoutes(app: App, { credentials, callerGuard, allowPrivateNetwork }: Dependencies): void {
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
