import { AuditEntry, listEntries } from '#access/audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { keysetPageOf, readPart, sendPart } from '#platform/http/keyset-page.ts';
import { AuditQuery } from './schema.ts';
import { filterOf, withNames } from './trail.ts';

/** This file is in `staff/`, because the route reads names from the tables of many modules. */
export function auditStaffRoutes(app: App, { db, ownerGuard }: { db: Database; ownerGuard: Guard }): void {
  app.get(
    '/v1/staff/audit/',
    {
      onRequest: ownerGuard,
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
        response: { 200: keysetPageOf(AuditEntry) },
      },
    },
    async ({ staff, query }, reply) => {
      const { rows, next } = await readPart(db, listEntries(staff.tenant.id, filterOf(query)), query);
      const entries = await withNames(db, staff.tenant, rows);
      return sendPart(reply, { rows: entries, next }, (entry) => entry);
    },
  );
}
