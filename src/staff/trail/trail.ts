/** The audit trail for the owner, with the names of actors and subjects. */
import type { Actor, AuditAction, AuditEntry, AuditFilter, AuditRow } from '#access/audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { readBound } from '#platform/http/search-query.ts';
import { isUuid } from '#platform/lib/ids.ts';
import type { AuditQuery } from './schema.ts';
import { NAMED_KINDS, type NamedKind, readNames } from './store.ts';

/**
 * Kinds of subjects that each action of the audit trail may have. For example, the subject of `session.ended` is a user or a display.
 * `tenant` means that the subject is the tenant itself.
 */
const SUBJECTS: Record<AuditAction, readonly (NamedKind | 'tenant')[]> = {
  'credential.created': ['credential'],
  'credential.changed': ['credential'],
  'credential.revoked': ['credential'],
  'credential.rotated': ['credential'],
  'channel.created': ['channel'],
  'channel.revoked': ['channel'],
  'channel.rotated': ['channel'],
  'dish.changed': ['dish'],
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

/** A later version of the service may have written an unknown action. */
function subjectsOf({ action }: AuditRow): readonly (NamedKind | 'tenant')[] {
  return SUBJECTS[action as AuditAction] ?? [];
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

interface TrailOwner {
  id: number;
  name: string;
}

/** Names of rows. The key (`keyOf`) has the kind too, because the sku of a dish may look like the id of another row. */
type Names = ReadonlyMap<string, string>;

function keyOf(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** Returns the entries with the present names of their actors and subjects. One statement reads the names for all entries. */
export async function withNames(db: Database, tenant: TrailOwner, rows: AuditRow[]): Promise<AuditEntry[]> {
  const named = rows.length === 0 ? [] : await readNames(db, tenant.id, idsOf(rows));
  const names = new Map(named.map(({ kind, id, name }) => [keyOf(kind, id), name]));
  return rows.map((row) => entryShape(row, tenant, names));
}

function idsOf(rows: AuditRow[]): Record<NamedKind, string[]> {
  const idsOfKind = (kind: NamedKind) => [...new Set(rows.flatMap((row) => idsInRow(row, kind)))];
  return Object.fromEntries(NAMED_KINDS.map((kind) => [kind, idsOfKind(kind)])) as Record<NamedKind, string[]>;
}

function idsInRow(row: AuditRow, kind: NamedKind): string[] {
  const { actor_type, actor_id, subject } = row;
  const isNamed = subjectsOf(row).includes(kind) && (kind === 'dish' || isUuid(subject));
  return [...(actor_type === kind && actor_id !== null ? [actor_id] : []), ...(isNamed ? [subject] : [])];
}

function entryShape(row: AuditRow, tenant: TrailOwner, names: Names): AuditEntry {
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

function labelOf(row: AuditRow, tenant: TrailOwner, names: Names): string | null {
  const labels = subjectsOf(row).map((kind) => (kind === 'tenant' ? tenant.name : names.get(keyOf(kind, row.subject))));
  return labels.find((label) => label !== undefined) ?? null;
}
