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
  /** Whose trail it is: the guard has found that out, and this folder lies below the one that knows people. */
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
          'Who made, rotated and revoked credentials and channels, registered webhook URLs, wrote rates and ' +
          'restrictions, added, changed and disabled users, and whose sign-ins failed; and what a tenant document ' +
          'changed. A change and its entry are written together or not at all, and no entry is ever changed or ' +
          'removed. For the owner alone.',
        tags: ['Audit'],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(AuditEntry), pageOf(AuditEntry)]) },
      },
    },
    (request, reply) => sendLongList(request, reply, listAudit(db, tenantOf(request)), auditShape),
  );
}
