import Type from 'typebox';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { actorOf } from '../tenants/tenants.ts';
import type { Credentials } from './credentials.ts';
import {
  Credential,
  CredentialCreate,
  CredentialPath,
  CredentialSecret,
  PmsCredential,
  PmsCredentialCreate,
  PmsCredentialPath,
  PmsCredentialSecret,
} from './schema.ts';

/** Texts and schemas that differ between partner credentials and PMS credentials. Validation and behaviour of the routes are the same. */
const SIDES = {
  Credential: {
    path: '/v1/third-party/credentials/',
    shape: Credential,
    holder: 'partner',
    headers: '`X-API-Key` and `X-API-Secret`',
    afterRevoke: ' Its waiting webhook deliveries are stopped.',
    body: CredentialCreate,
    params: CredentialPath,
    secret: CredentialSecret,
  },
  PmsCredential: {
    path: '/v1/channel-manager/credentials/',
    shape: PmsCredential,
    holder: 'PMS',
    headers: '`X-PMS-API-Key` and `X-PMS-API-Secret`',
    afterRevoke: '',
    body: PmsCredentialCreate,
    params: PmsCredentialPath,
    secret: PmsCredentialSecret,
  },
};

const SHARED = { tags: ['Credentials'] };

interface Dependencies {
  credentials: Credentials;
  ownerGuard: Guard;
  noun: keyof typeof SIDES;
}

export function credentialRoutes(app: App, dependencies: Dependencies): void {
  listAndCreate(app, dependencies);
  revokeAndRotate(app, dependencies);
}

function listAndCreate(app: App, { credentials, ownerGuard, noun }: Dependencies): void {
  const { path, shape, holder, headers, body, secret } = SIDES[noun];
  // Only the list of the third-party API has pages (rule 10).
  const isPaged = noun === 'Credential';
  app.get(
    path,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: `list${noun}s`,
        summary: 'List the credentials',
        description: `Lists all credentials ever created for a ${holder}, newest first, also the revoked ones. No secret is shown.`,
        querystring: isPaged ? PageQuery : Type.Object({}),
        response: { 200: isPaged ? Type.Union([Type.Array(shape), pageOf(shape)]) : Type.Array(shape) },
      },
    },
    async (request) => {
      const all = await credentials.list(request.staff.tenant.id);
      return isPaged ? shortList(request, all) : all;
    },
  );
  app.post(
    path,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: `create${noun}`,
        summary: 'Create a credential. Only this response shows its secret',
        description:
          `Creates the key and the secret that a ${holder} sends as ${headers}. Only a hash of the secret is stored. ` +
          'If the secret is lost, rotate the credential. This operation is not idempotent, because each call creates ' +
          'a credential. If the response is lost, read the list and revoke the credential whose secret is unknown.',
        body,
        response: { 201: secret },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await credentials.create(actorOf(request.staff), request.body.label)),
  );
}

function revokeAndRotate(app: App, { credentials, ownerGuard, noun }: Dependencies): void {
  const { path, shape, holder, params, secret, afterRevoke } = SIDES[noun];
  app.post(
    `${path}:id/revoke/`,
    {
      onRequest: ownerGuard,
      config: { errors: [noSuch('credential')] },
      schema: {
        ...SHARED,
        operationId: `revoke${noun}`,
        summary: 'Revoke a credential for good',
        description:
          `Ends the access of the ${holder}. Every call that starts after this response is refused.${afterRevoke} ` +
          'A revoked credential cannot be restored. Create a new credential instead. Revoking it again changes ' +
          'nothing and gets the same response.',
        params,
        response: { 200: shape },
      },
    },
    async (request) => await credentials.revoke(actorOf(request.staff), request.params.id),
  );
  app.post(
    `${path}:id/rotate/`,
    {
      onRequest: ownerGuard,
      config: { errors: [noSuch('credential'), 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: `rotate${noun}`,
        summary: 'Replace the secret of a credential, which ends the old secret immediately',
        description:
          'Replaces the secret. Only this response shows the new secret. The key stays the same. Every call with the ' +
          'old secret that starts after this response is refused. This operation is not idempotent, because each call ' +
          'makes a new secret. If the response is lost, call it again. A credential that is revoked, or whose API key ' +
          'the operator has discarded, cannot be rotated.',
        params,
        response: { 200: secret },
      },
    },
    async (request) => await credentials.rotate(actorOf(request.staff), request.params.id),
  );
}
