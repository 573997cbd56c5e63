import Type from 'typebox';
import { AuditEntry, listAudit } from '#access/audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLongListInParts } from '#platform/http/list.ts';
import { pageOf } from '#platform/http/paging.ts';
import { AuditQuery } from './schema.ts';
import { filterOf, textsOf } from './trail.ts';

interface Dependencies {
  db: Database;
  ownerGuard: Guard;
}

/** Registers the route of the audit trail. This file is in `staff/`, because the route reads names from the tables of many modules. */
export function auditStaffRoutes(app: App, { db, ownerGuard }: Dependencies): void {
  app.get(
    '/v1/staff/audit/',
    {
      onRequest: ownerGuard,
      config: { place: 'long' },
      schema: {
        operationId: 'listAudit',
        summary: 'Read the audit trail, newest first',
        description:
          'Lists the actions of people, displays, partners, PMSs and operators, with their actors. The field `action` of an entry ' +
          'says which kinds of actions there are. A change and its entry are written in one transaction. No entry is ever ' +
          'changed or removed. Actors and subjects have their present names. The filters may be combined. Then the ' +
          'list has only the entries that pass all of them. Only the owner may call this operation.',
        tags: ['Audit'],
        querystring: AuditQuery,
        response: { 200: Type.Union([Type.Array(AuditEntry), pageOf(AuditEntry)]) },
      },
    },
    (request, reply) => {
      const { staff, query } = request;
      const list = listAudit(db, staff.tenant.id, filterOf(query));
      return sendLongListInParts(request, reply, list, (rows) => textsOf(db, staff.tenant, rows));
    },
  );
}
