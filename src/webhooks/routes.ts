import type { Credentials } from '../credentials/credentials.ts';
import { invalidField } from '../errors.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
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
        tags: ['Webhook'],
        security: [{ apiKey: [], apiSecret: [] }],
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
