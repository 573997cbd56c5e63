/** The audit trail for the owner, with the names of actors and subjects. */
import type { Actor, AuditEntry, AuditFilter, AuditRow, AuditSubject } from '#access/audit/audit.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import type { Database } from '#platform/db/database.ts';
import { readBound } from '#platform/http/search-query.ts';
import { isUuid } from '#platform/lib/ids.ts';
import type { AuditQuery } from './schema.ts';
import { type NamedKind, readNames } from './store.ts';

/**
 * Kinds of rows that the first part of an action may be about. For example, the subject of `session.ended` is a user or a display. `tenant`
 * means that the subject is the tenant itself.
 */
const KINDS: Record<AuditSubject, readonly (NamedKind | 'tenant')[]> = {
  credential: ['credential'],
  channel: ['channel'],
  dish: ['dish'],
  dishes: ['tenant'],
  display: ['display'],
  menu: ['tenant'],
  opening_hours: ['tenant'],
  pause: ['tenant'],
  rate_plan: ['rate_plan'],
  rates: ['rate_plan'],
  reservation: ['reservation'],
  restrictions: ['rate_plan'],
  room_type: ['room_type'],
  session: ['user', 'display'],
  sign_in: ['user'],
  tenant: ['tenant'],
  user: ['user'],
  webhook: ['credential'],
};

/** A later version of the service may have written an unknown action. */
function kindsOf({ action }: AuditRow): readonly (NamedKind | 'tenant')[] {
  return KINDS[action.split('.', 1)[0] as AuditSubject] ?? [];
}

export function filterOf({ action, actor_id, subject, from, to }: AuditQuery): AuditFilter {
  return {
    action,
    actorId: actor_id,
    // A subject that is an id is stored in lower case, but the id in the request may have capital letters.
    subject: subject !== undefined && isUuid(subject) ? subject.toLowerCase() : subject,
    fromMs: from === undefined ? undefined : readBound(from),
    toMs: to === undefined ? undefined : readBound(to),
  };
}

/** Names of rows. The key (`keyOf`) has the kind too, because the sku of a dish may look like the id of another row. */
type Names = ReadonlyMap<string, string>;

function keyOf(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** Returns the entries with the present names of their actors and subjects. One statement reads the names for all entries. */
export async function withNames(db: Database, tenant: Tenant, rows: AuditRow[]): Promise<AuditEntry[]> {
  const subjects = new Set(rows.map(({ subject }) => subject));
  const actors = new Set(rows.map(({ actor_id }) => actor_id ?? ''));
  const ids = [...subjects.union(actors)].filter(isUuid);
  const named = rows.length === 0 ? [] : await readNames(db, tenant.id, { ids, skus: [...subjects] });
  const names = new Map(named.map(({ kind, id, name }) => [keyOf(kind, id), name]));
  return rows.map((row) => entryShape(row, tenant, names));
}

function entryShape(row: AuditRow, tenant: Tenant, names: Names): AuditEntry {
  const { id, at, actor_type, actor_id, action, subject, details } = row;
  return {
    id,
    at: at.toISOString(),
    actor: {
      type: actor_type as Actor['type'],
      id: actor_id,
      name: actor_id === null ? null : (names.get(keyOf(actor_type, actor_id)) ?? null),
    },
    action,
    subject,
    subject_label: labelOf(row, tenant, names),
    details: details as Record<string, unknown>,
  };
}

function labelOf(row: AuditRow, tenant: Tenant, names: Names): string | null {
  const labels = kindsOf(row).map((kind) => (kind === 'tenant' ? tenant.name : names.get(keyOf(kind, row.subject))));
  return labels.find((label) => label !== undefined) ?? null;
}
