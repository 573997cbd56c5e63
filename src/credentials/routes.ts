import Type from 'typebox';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { shortList } from '../http/list.ts';
import { PageQuery, pageOf } from '../http/paging.ts';
import type { Credentials } from './credentials.ts';
import { Credential, CredentialCreate, CredentialPath, CredentialSecret } from './schema.ts';

interface Dependencies {
  credentials: Credentials;
  publicUrl: string | null;
  ownerGuard: Guard;
}

/** The owner's side of third-party credentials (contract §4, "Owner-only"). */
export function credentialRoutes(app: App, { credentials, publicUrl, ownerGuard }: Dependencies): void {
  const shared = { tags: ['Credentials'], security: [{ bearer: [] }] };
  app.get(
    '/v1/third-party/credentials/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'listCredentials',
        summary: 'List the credentials',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(Credential), pageOf(Credential)]) },
      },
    },
    async (request) => shortList(request, publicUrl, await credentials.list(request.person.tenant.id)),
  );
  app.post(
    '/v1/third-party/credentials/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'createCredential',
        summary: 'Create a credential; its secret is in this answer alone',
        body: CredentialCreate,
        response: { 201: CredentialSecret },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await credentials.create(request.person.tenant.id, request.body.label)),
  );
  app.post(
    '/v1/third-party/credentials/:id/revoke/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'revokeCredential',
        summary: 'Revoke a credential for good',
        params: CredentialPath,
        response: { 200: Credential },
      },
    },
    async (request) => await credentials.revoke(request.person.tenant.id, request.params.id),
  );
  app.post(
    '/v1/third-party/credentials/:id/rotate/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'rotateCredential',
        summary: 'Give a credential a new secret; the old one stops at once',
        params: CredentialPath,
        response: { 200: CredentialSecret },
      },
    },
    async (request) => await credentials.rotate(request.person.tenant.id, request.params.id),
  );
}
