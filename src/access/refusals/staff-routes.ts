import Type from 'typebox';
import { noSuch } from '#platform/errors.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { CredentialPath } from '../credentials/credentials.ts';
import { listRefusedCalls } from './refusals.ts';
import { RefusedCall } from './schema.ts';

export function refusalStaffRoutes(app: App, { db, staffGuard }: { db: Database; staffGuard: Guard }): void {
  app.get(
    '/v1/staff/credentials/:id/refusals/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('credential')] },
      schema: {
        operationId: 'listRefusedCalls',
        summary: 'List the last refused calls of a credential',
        description:
          'Lists the last 50 calls that the service refused with a status from 400 to 499 although their secret was right, newest first. ' +
          'The calls are those of a partner or of a PMS. Calls over the budget of the credential (429) are listed too. Calls with a wrong ' +
          'secret or of a revoked credential (401) are not listed. A call appears within 5 seconds. If a process of the service is ' +
          'killed, the calls of its last 5 seconds are missing.',
        tags: ['Credentials'],
        params: CredentialPath,
        response: { 200: Type.Array(RefusedCall, { description: 'The last 50 refused calls, newest first.' }) },
      },
    },
    async (request) => await listRefusedCalls(db, request.staff.tenant.id, request.params.id),
  );
}
