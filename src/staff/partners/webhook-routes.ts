import type Type from 'typebox';
import { CredentialPath, type OwnerCredentials } from '#access/credentials/credentials.ts';
import { actorOf } from '#access/tenants/tenants.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import {
  requireWebhookUrl,
  stopPendingDeliveries,
  WebhookRegister,
  WebhookRegisterResponse,
} from '#webhooks/deliveries/deliveries.ts';
import { withDeliveries } from './partners.ts';
import { staffCredential } from './schema.ts';

interface Dependencies {
  db: Database;
  ownerCredentials: OwnerCredentials;
  ownerGuard: Guard;
  /** Schema of a credential in API responses. */
  shape: Type.TObject;
  /** True if a webhook URL may have an address in a private network. */
  allowPrivateNetwork: boolean;
}

const PATH = '/v1/staff/credentials/:id/webhook/';
const SHARED = { tags: ['Credentials'] };
const ERRORS = [{ status: 404, code: 'error', message: 'No such credential.' }, 'invalid_status_transition'] as const;

/** Registers the routes that an owner calls to set and to remove the webhook URL of a partner. */
export function credentialWebhookRoutes(app: App, dependencies: Dependencies): void {
  setRoute(app, dependencies);
  removeRoute(app, dependencies);
}

function setRoute(app: App, { ownerCredentials, ownerGuard, allowPrivateNetwork }: Dependencies): void {
  app.post(
    PATH,
    {
      onRequest: ownerGuard,
      config: { errors: [...ERRORS] },
      schema: {
        ...SHARED,
        operationId: 'setCredentialWebhook',
        summary: 'Set the webhook URL of a partner',
        description:
          'Registers the URL to which the events of the partner are sent. The partner can do the same with `POST ' +
          '/v1/third-party/webhook/`. A new URL also gets a new `webhook_secret`. Only this response shows the secret, so give it to the ' +
          'partner. If you set the same URL again, nothing changes, and the response has an empty secret. A delivery that already waits ' +
          'goes to the new URL, and is signed with the new secret. A credential that is revoked or belongs to a PMS gets 409. Only the ' +
          'owner may call it.',
        params: CredentialPath,
        body: WebhookRegister,
        response: { 200: WebhookRegisterResponse },
      },
    },
    async ({ staff, params, body }) => {
      const { webhook_url } = body;
      requireWebhookUrl(webhook_url, { allowPrivateNetwork });
      const webhook_secret = await ownerCredentials.registerWebhook(actorOf(staff), params.id, webhook_url);
      return { webhook_url, webhook_secret };
    },
  );
}

function removeRoute(app: App, { db, ownerCredentials, ownerGuard, shape }: Dependencies): void {
  app.post(
    `${PATH}remove/`,
    {
      onRequest: ownerGuard,
      config: { errors: [...ERRORS] },
      schema: {
        ...SHARED,
        operationId: 'removeCredentialWebhook',
        summary: 'Remove the webhook URL of a partner, which stops its deliveries',
        description:
          'Removes the webhook URL and its secret. Deliveries that wait become `stopped`, and are never sent, not even to a URL that is ' +
          'registered later. An attempt that is under way may still reach the receiver. Events are still in the feed of the partner, and ' +
          'the partner may register a URL again. If no URL is registered, nothing changes. A credential that is revoked or belongs to a ' +
          'PMS gets 409. Only the owner may call it.',
        params: CredentialPath,
        response: { 200: staffCredential(shape) },
      },
    },
    async ({ staff, params }) => {
      const tenantId = staff.tenant.id;
      const credential = await ownerCredentials.removeWebhook(actorOf(staff), params.id);
      await stopPendingDeliveries(db, tenantId, credential.id);
      return await withDeliveries(db, tenantId, credential);
    },
  );
}
