import Type from 'typebox';
import {
  CredentialPath,
  readCredential,
  registerWebhook,
  removeWebhook,
  renameCredential,
  rotateSecret,
} from '#access/credentials/credentials.ts';
import { actorOf } from '#access/tenants/tenants.ts';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import {
  readWebhookUrl,
  stopPendingDeliveries,
  WebhookRegister,
  WebhookRegisterResponse,
} from '#webhooks/deliveries/deliveries.ts';
import { detailOf, listCredentialsWithDeliveries, type Partners, withDeliveries } from './partners.ts';
import {
  CredentialChange,
  CredentialRotation,
  RotatedCredential,
  StaffCredential,
  StaffCredentialDetail,
} from './schema.ts';

interface Dependencies extends Partners {
  ownerGuard: Guard;
  allowPrivateNetwork: boolean;
}

const PATH = '/v1/staff/credentials/';
const SHARED = { tags: ['Credentials'] };
const NOT_FOUND = noSuch('credential');

/** `GET /v1/third-party/credentials/` cannot show the deliveries and the budget, because the contract fixes its fields. */
export function partnerRoutes(app: App, dependencies: Dependencies): void {
  listRoute(app, dependencies);
  detailRoutes(app, dependencies);
  rotateRoute(app, dependencies);
  setWebhookRoute(app, dependencies);
  removeWebhookRoute(app, dependencies);
}

function listRoute(app: App, { credentials, db, ownerGuard }: Dependencies): void {
  app.get(
    PATH,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: 'listStaffCredentials',
        summary: 'List the third-party credentials with the state of their deliveries',
        description:
          'Lists all third-party credentials, newest first, including revoked credentials. Each entry shows how many deliveries wait and ' +
          'how many have failed, so that you see if the receiver of a partner is down. Only the owner may call it.',
        response: { 200: Type.Array(StaffCredential) },
      },
    },
    async (request) => await listCredentialsWithDeliveries(db, credentials, request.staff.tenant.id),
  );
}

function detailRoutes(app: App, dependencies: Dependencies): void {
  const { db, ownerGuard } = dependencies;
  app.get(
    `${PATH}:id/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...SHARED,
        operationId: 'getStaffCredential',
        summary: 'Read a credential with its budget of calls and its last 24 hours',
        description:
          'Shows the fields of the list. Also shows how much of its budget of calls the credential has used, and the results of its ' +
          'deliveries in each of the last 24 hours. The id may also be the id of a PMS credential. Only the owner may call this ' +
          'operation.',
        params: CredentialPath,
        response: { 200: StaffCredentialDetail },
      },
    },
    async ({ staff, params }) => {
      const tenantId = staff.tenant.id;
      return await detailOf(dependencies, tenantId, await readCredential(db, tenantId, params.id));
    },
  );
  app.patch(
    `${PATH}:id/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...SHARED,
        operationId: 'changeStaffCredential',
        summary: 'Change the label of a credential',
        description:
          'Changes the label of a credential of a partner or of a PMS, also of a revoked one. Key and secret stay the same. Only the ' +
          'owner may call it.',
        params: CredentialPath,
        body: CredentialChange,
        response: { 200: StaffCredentialDetail },
      },
    },
    async ({ staff, params, body }) =>
      await detailOf(dependencies, staff.tenant.id, await renameCredential(db, actorOf(staff), params.id, body.label)),
  );
}

function rotateRoute(app: App, { db, keyring, ownerGuard }: Dependencies): void {
  app.post(
    `${PATH}:id/rotate/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'rotateStaffCredential',
        summary: 'Replace the secret of a credential, and let the old secret work for a while',
        description:
          'Replaces the secret of a credential of a partner or of a PMS. Only this response shows the new secret. The key stays the ' +
          'same. The replaced secret works until `previous_secret_ends_at`, so that the partner can change its servers one after the ' +
          'other. At most two secrets work at the same time: if you rotate again, the oldest secret ends immediately. A revoke ends ' +
          'both. The webhook secret is another secret, and stays the same. A credential that is revoked, or whose API key the operator has ' +
          'discarded, cannot be rotated. This operation is not idempotent. If the response is lost, the secret that the partner uses still works for `overlap_minutes`. To get a new secret, ' +
          "rotate again. But the second rotation ends the partner's secret immediately. Only the owner may call this operation.",
        params: CredentialPath,
        body: CredentialRotation,
        response: { 200: RotatedCredential },
      },
    },
    async ({ staff, params, body }) =>
      await rotateSecret({ db, keyring }, actorOf(staff), params, body.overlap_minutes),
  );
}

function setWebhookRoute(app: App, { db, keyring, ownerGuard, allowPrivateNetwork }: Dependencies): void {
  app.post(
    `${PATH}:id/webhook/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
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
      readWebhookUrl(webhook_url, { allowPrivateNetwork });
      const webhook_secret = await registerWebhook({ db, keyring }, actorOf(staff), params, webhook_url);
      return { webhook_url, webhook_secret };
    },
  );
}

function removeWebhookRoute(app: App, { db, ownerGuard }: Dependencies): void {
  app.post(
    `${PATH}:id/webhook/remove/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
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
        response: { 200: StaffCredential },
      },
    },
    async ({ staff, params }) => {
      const tenantId = staff.tenant.id;
      const credential = await removeWebhook(db, actorOf(staff), params.id);
      await stopPendingDeliveries(db, tenantId, credential.id);
      return await withDeliveries(db, tenantId, credential);
    },
  );
}
