import Type from 'typebox';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { shortList } from '../http/list.ts';
import { PageQuery, pageOf } from '../http/paging.ts';
import { actorOf } from '../tenants/tenants.ts';
import type { Credentials } from './credentials.ts';
import { type Credential, CredentialCreate, CredentialPath, CredentialSecret, type PmsCredential } from './schema.ts';

interface Dependencies {
  credentials: Credentials;
  publicUrl: string | null;
  ownerGuard: Guard;
  /** Where the routes begin, with a slash at its end. */
  path: string;
  /** The read shape; a field of `Credential` that it leaves out is not sent. */
  shape: typeof Credential | typeof PmsCredential;
  /** Of the operations' names: `Credential`, `PmsCredential`. */
  noun: string;
}

/** The owner's side of the credentials of one API (contract §4, "Owner-only"; decision 17). */
export function credentialRoutes(app: App, dependencies: Dependencies): void {
  const { credentials, publicUrl, ownerGuard, path, shape, noun } = dependencies;
  const shared = { tags: ['Credentials'], security: [{ bearer: [] }] };
  app.get(
    path,
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: `list${noun}s`,
        summary: 'List the credentials',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(shape), pageOf(shape)]) },
      },
    },
    async (request) => shortList(request, publicUrl, await credentials.list(request.person.tenant.id)),
  );
  app.post(
    path,
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: `create${noun}`,
        summary: 'Create a credential; its secret is in this answer alone',
        body: CredentialCreate,
        response: { 201: CredentialSecret },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await credentials.create(actorOf(request.person), request.body.label)),
  );
  app.post(
    `${path}:id/revoke/`,
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: `revoke${noun}`,
        summary: 'Revoke a credential for good',
        params: CredentialPath,
        response: { 200: shape },
      },
    },
    async (request) => await credentials.revoke(actorOf(request.person), request.params.id),
  );
  app.post(
    `${path}:id/rotate/`,
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: `rotate${noun}`,
        summary: 'Give a credential a new secret; the old one stops at once',
        params: CredentialPath,
        response: { 200: CredentialSecret },
      },
    },
    async (request) => await credentials.rotate(actorOf(request.person), request.params.id),
  );
}
