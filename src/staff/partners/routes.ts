import Type from 'typebox';
import { CREDENTIAL_EXAMPLE, type Credentials } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { listCredentialsWithDeliveries } from './partners.ts';
import { CredentialDeliveries } from './schema.ts';

interface Dependencies {
  credentials: Credentials;
  db: Database;
  ownerGuard: Guard;
  /** Schema of a credential in API responses. The route for partners adds the field `deliveries` to the schema. */
  shape: Type.TObject;
}

/**
 * Registers the route that shows an owner how many deliveries of each partner wait or have failed. `GET /v1/third-party/credentials/`
 * cannot show these numbers, because the contract fixes the fields of its response.
 */
export function partnerRoutes(app: App, dependencies: Dependencies): void {
  const { credentials, db, ownerGuard, shape } = dependencies;
  const entry = Type.Object(
    { ...shape.properties, deliveries: CredentialDeliveries },
    {
      title: 'StaffCredential',
      description: 'The credential of a partner, and the state of its deliveries.',
      examples: [
        {
          ...CREDENTIAL_EXAMPLE,
          deliveries: {
            pending: 1,
            failed: 1,
            last_failed_at: '2026-11-18T21:07:55.330Z',
            oldest_pending_at: '2026-11-20T19:05:31.208Z',
          },
        },
      ],
    },
  );
  app.get(
    '/v1/staff/credentials/',
    {
      onRequest: ownerGuard,
      schema: {
        operationId: 'listStaffCredentials',
        summary: 'List the third-party credentials with the state of their deliveries',
        description:
          'Lists all third-party credentials, newest first, revoked ones too. Each shows how many of its deliveries wait and how many ' +
          'have failed, so that you see if the receiver of a partner is down. Only the owner may call it.',
        tags: ['Credentials'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(entry), pageOf(entry)]) },
      },
    },
    async (request) => {
      const all = await listCredentialsWithDeliveries(db, credentials, request.staff.tenant.id);
      return shortList(request, all);
    },
  );
}
