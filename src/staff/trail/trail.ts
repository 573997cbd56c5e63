import type { Actor, AuditAction, AuditEntry, AuditFilter, AuditRow } from '#access/audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { readBound } from '#platform/http/search-query.ts';
import { isUuid } from '#platform/lib/ids.ts';
import type { AuditQuery } from './schema.ts';
import { NAMED_KINDS, type NamedKind, readNames } from './store.ts';

/** Kinds of rows that the subject of an action may be. `tenant` is the tenant itself. */
const SUBJECTS: Record<AuditAction, readonly (NamedKind | 'tenant')[]> = {
  'credential.created': ['credential'],
  'credential.changed': ['credential'],
  'credential.revoked': ['credential'],
  'credential.rotated': ['credential'],
  'channel.created': ['channel'],
  'channel.revoked': ['channel'],
  'channel.rotated': ['channel'],
  // The subject is the sku, which people read.
  'dish.changed': [],
  'dishes.availability_changed': ['tenant'],
  'display.created': ['display'],
  'display.paired': ['display'],
  'display.removed': ['display'],
  'menu.replaced': ['tenant'],
  'opening_hours.changed': ['tenant'],
  'pause.started': ['tenant'],
  'pause.ended': ['tenant'],
  'webhook.registered': ['credential'],
  'webhook.removed': ['credential'],
  'webhook.tested': ['credential'],
  'rate_plan.changed': ['rate_plan'],
  'rates.changed': ['rate_plan'],
  'rates.written': ['rate_plan'],
  'reservation.arrival': ['reservation'],
  'reservation.booked': ['reservation'],
  'reservation.changed': ['reservation'],
  'restrictions.written': ['rate_plan'],
  'room_type.changed': ['room_type'],
  'session.ended': ['user', 'display'],
  'sign_in.failed': ['user'],
  'user.created': ['user'],
  'user.changed': ['user'],
  'user.disabled': ['user'],
  'user.enabled': ['user'],
  'user.link_created': ['user'],
  'user.password_changed': ['user'],
  'tenant.applied': ['tenant'],
};

/** Returns the kinds of rows that the subject of an entry may be. A later version of the service may have written an action unknown here. */
function subjectsOf({ action }: AuditRow): readonly (NamedKind | 'tenant')[] {
  return SUBJECTS[action as AuditAction] ?? [];
}

/** Returns the filter that a query asks for. */
export function filterOf({ action, actor_id, subject, from, to }: AuditQuery): AuditFilter {
  return {
    action,
    actorId: actor_id,
    // The subjects have their ids in small letters.
    subject: subject !== undefined && isUuid(subject) ? subject.toLowerCase() : subject,
    fromMs: from === undefined ? undefined : readBound(from),
    toMs: to === undefined ? undefined : readBound(to),
  };
}

/** Tenant of the audit trail. */
export interface TrailOwner {
  id: number;
  name: string;
}

/**
 * Yields entries as JSON texts, with the present names of their actors and subjects. One statement reads the names of all entries.
 */
export async function* textsOf(db: Database, tenant: TrailOwner, rows: AuditRow[]): AsyncGenerator<string> {
  const names = rows.length === 0 ? new Map<string, string>() : await readNames(db, tenant.id, idsOf(rows));
  for (const row of rows) {
    yield JSON.stringify(entryShape(row, tenant, names));
  }
}

/** Returns the ids of the actors and the subjects, by the kind of their rows. */
function idsOf(rows: AuditRow[]): Record<NamedKind, string[]> {
  const ids = Object.fromEntries(NAMED_KINDS.map((kind) => [kind, new Set<string>()])) as Record<
    NamedKind,
    Set<string>
  >;
  for (const row of rows) {
    for (const kind of NAMED_KINDS) {
      if (row.actor_id !== null && row.actor_type === kind) {
        ids[kind].add(row.actor_id);
      }
      if (subjectsOf(row).includes(kind) && isUuid(row.subject)) {
        ids[kind].add(row.subject);
      }
    }
  }
  return Object.fromEntries(NAMED_KINDS.map((kind) => [kind, [...ids[kind]]])) as Record<NamedKind, string[]>;
}

function entryShape(row: AuditRow, tenant: TrailOwner, names: Map<string, string>): AuditEntry {
  const { id, at, actor_type, actor_id, action, subject, details } = row;
  const isTenant = subjectsOf(row).includes('tenant');
  return {
    id,
    at: at.toISOString(),
    actor: {
      type: actor_type as Actor['type'],
      id: actor_id,
      name: actor_id === null ? null : (names.get(actor_id) ?? null),
    },
    action,
    subject,
    subject_label: isTenant ? tenant.name : (names.get(subject) ?? null),
    details: details as Record<string, unknown>,
  };
}
