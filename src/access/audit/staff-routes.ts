import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLongList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { auditShape, listAudit } from './audit.ts';
import { AuditEntry } from './schema.ts';

interface Dependencies {
  db: Database;
  ownerGuard: Guard;
  /**
   * Returns the tenant id of the signed-in owner. This function is a parameter, because `access/sessions/` puts the signed-in owner on the
   * request, and `access/audit/` may not import that folder.
   */
  tenantOf: (request: Parameters<Guard>[0]) => number;
}

export function auditStaffRoutes(app: App, { db, ownerGuard, tenantOf }: Dependencies): void {
  app.get(
    '/v1/staff/audit/',
    {
      onRequest: ownerGuard,
      config: { isStreamed: true },
      schema: {
        operationId: 'listAudit',
        summary: 'Read the audit trail, newest first',
        description:
          'Lists these actions with their actors: credentials and channels created, rotated and revoked, webhook URLs ' +
          'registered, the menu and its dishes changed, rates, restrictions, rate plans and capacities changed, users added, ' +
          'changed, enabled and disabled, ' +
          'links for passwords made, displays added, paired and removed, sessions of others ended, failed sign-ins, and ' +
          'changes by a tenant document. A change and its entry are written in one transaction. No entry is ever ' +
          'changed or removed. Only the owner may call this operation.',
        tags: ['Audit'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(AuditEntry), pageOf(AuditEntry)]) },
      },
    },
    (request, reply) => sendLongList(request, reply, listAudit(db, tenantOf(request)), auditShape),
  );
}
