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
  /** The read shape of a credential, which this list adds to. */
  shape: Type.TObject;
}

/**
 * Where an owner sees that a partner's deliveries wait, or end failed; the contract's own list of credentials has no
 * room.
 */
export function partnerRoutes(app: App, dependencies: Dependencies): void {
  const { credentials, db, ownerGuard, shape } = dependencies;
  const entry = Type.Object(
    { ...shape.properties, deliveries: CredentialDeliveries },
    {
      title: 'StaffCredential',
      description: "A partner's access, and what its deliveries have come to.",
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
        summary: 'List the third-party credentials with what their deliveries have come to',
        description:
          'Every credential ever made for a partner, newest first, and how many of its deliveries wait and failed: ' +
          "the place to see that a partner's receiver is down. For the owner alone.",
        tags: ['Credentials'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(entry), pageOf(entry)]) },
      },
    },
    async (request) => {
      const all = await listCredentialsWithDeliveries(db, credentials, request.person.tenant.id);
      return shortList(request, all);
    },
  );
}
