import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { actorOf } from '../tenants/tenants.ts';
import type { Credentials } from './credentials.ts';
import {
  type Credential,
  CredentialCreate,
  CredentialPath,
  CredentialSecret,
  type PmsCredential,
  PmsCredentialCreate,
  PmsCredentialPath,
  PmsCredentialSecret,
} from './schema.ts';

/** Where the two APIs differ in the documents. What is validated and answered is the same. */
const SIDES = {
  Credential: {
    holder: 'partner',
    headers: '`X-API-Key` and `X-API-Secret`',
    afterRevoke: ' Its webhook deliveries that still wait are stopped.',
    body: CredentialCreate,
    params: CredentialPath,
    secret: CredentialSecret,
  },
  PmsCredential: {
    holder: 'PMS',
    headers: '`X-PMS-API-Key` and `X-PMS-API-Secret`',
    afterRevoke: '',
    body: PmsCredentialCreate,
    params: PmsCredentialPath,
    secret: PmsCredentialSecret,
  },
};

const SHARED = { tags: ['Credentials'] };
const NOT_FOUND = { status: 404, code: 'error', message: 'No such credential.' } as const;

interface Dependencies {
  credentials: Credentials;
  ownerGuard: Guard;
  /** Where the routes begin, with a slash at its end. */
  path: string;
  /** The read shape; a field of `Credential` that it leaves out is not sent. */
  shape: typeof Credential | typeof PmsCredential;
  /** Of the operations' names: `Credential`, `PmsCredential`. */
  noun: keyof typeof SIDES;
}

/** The owner's side of the credentials of one API (contract §4, "Owner-only"; decision 17). */
export function credentialRoutes(app: App, dependencies: Dependencies): void {
  listAndCreate(app, dependencies);
  revokeAndRotate(app, dependencies);
}

function listAndCreate(app: App, { credentials, ownerGuard, path, shape, noun }: Dependencies): void {
  const { holder, headers, body, secret } = SIDES[noun];
  app.get(
    path,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: `list${noun}s`,
        summary: 'List the credentials',
        description: `Every credential ever made for a ${holder}, newest first, revoked or not. No secret is shown.`,
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(shape), pageOf(shape)]) },
      },
    },
    async (request) => shortList(request, await credentials.list(request.person.tenant.id)),
  );
  app.post(
    path,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: `create${noun}`,
        summary: 'Create a credential; its secret is in this answer alone',
        description:
          `Makes the key and secret that a ${holder} sends as ${headers}. Only a hash of the secret is kept: ` +
          'whoever loses it needs `rotate`. Not idempotent: each call makes one more credential, so after a lost ' +
          'answer look at the list and revoke what nobody holds the secret of.',
        body,
        response: { 201: secret },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await credentials.create(actorOf(request.person), request.body.label)),
  );
}

function revokeAndRotate(app: App, { credentials, ownerGuard, path, shape, noun }: Dependencies): void {
  const { holder, params, secret, afterRevoke } = SIDES[noun];
  app.post(
    `${path}:id/revoke/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...SHARED,
        operationId: `revoke${noun}`,
        summary: 'Revoke a credential for good',
        description:
          `Shuts the ${holder} out: once this is answered, no call that starts later is let in.${afterRevoke} ` +
          'There is no way back: make a new credential instead. Revoking again changes nothing and answers the same.',
        params,
        response: { 200: shape },
      },
    },
    async (request) => await credentials.revoke(actorOf(request.person), request.params.id),
  );
  app.post(
    `${path}:id/rotate/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: `rotate${noun}`,
        summary: 'Give a credential a new secret; the old one stops at once',
        description:
          'Replaces the secret and shows the new one, in this answer alone; the key stays. Once this is answered, no ' +
          'call that starts later is let in with the old secret. Not idempotent: each call makes another secret, so ' +
          'after a lost answer call again. A revoked credential cannot be rotated.',
        params,
        response: { 200: secret },
      },
    },
    async (request) => await credentials.rotate(actorOf(request.person), request.params.id),
  );
}
