import { isDeepStrictEqual } from 'node:util';
import { type Actor, type NewAuditEntry, writeAuditEntries } from '../audit/audit.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { ApiError, apiError, OperatorError } from '#platform/errors.ts';
import type { FieldChange } from '#platform/lib/change-list.ts';
import { trimmed } from '#platform/lib/unicode.ts';
import { hashPassword } from './passwords.ts';
import { AREAS, type Area, orderedAreas } from './schema.ts';
import * as store from './store.ts';

export class EmailTakenError extends ApiError {
  constructor(email: string) {
    super(
      409,
      'invalid_status_transition',
      `The e-mail ${email} belongs to an account, or an invitation reserves it. Use another e-mail.`,
    );
  }
}

export function notSignedIn(message: string): ApiError {
  return apiError('invalid_credentials', message, { 'www-authenticate': 'Bearer' });
}

export function normaliseEmail(email: string): string {
  return trimmed(email).toLowerCase();
}

/** Returns true if the person has not accepted the invitation, also if the invitation has expired. */
export function isInvited(user: Pick<store.UserRow, 'invitation_expires_at'>): boolean {
  return user.invitation_expires_at !== null;
}

/** An owner has all areas, whatever the stored areas are. */
export function areasOf({ role, areas }: Pick<store.UserRow, 'role' | 'areas'>): Area[] {
  return role === 'owner' ? [...AREAS] : orderedAreas(areas);
}

export function isActiveOwner(
  user: Pick<store.UserRow, 'is_active' | 'invitation_expires_at'> & { role: unknown },
): boolean {
  return user.role === 'owner' && user.is_active && !isInvited(user);
}

/** Returns the wanted values that differ from the stored ones. Undefined means that the stored value stays. */
export function differing<Wanted extends { [Column in keyof store.UserRow]?: store.UserRow[Column] | undefined }>(
  user: store.UserRow,
  wanted: Wanted,
) {
  const stored: Record<string, unknown> = { ...user };
  const changes = Object.entries(wanted).filter(
    ([column, value]) => value !== undefined && !isDeepStrictEqual(stored[column], value),
  );
  return Object.fromEntries(changes) as { [Column in keyof Wanted]?: Exclude<Wanted[Column], undefined> };
}

/** For a user whom the last tenant document does not name. */
export const NOT_DOCUMENTED = {
  document_role: null,
  document_password_hash: null,
  document_name: null,
  document_areas: null,
};

/** @throws EmailTakenError if a user has the e-mail */
export async function addUser(tx: Tx, actor: Actor, user: store.NewUser): Promise<void> {
  const { id: subject, email, role, areas } = user;
  await claimEmail(tx, actor, user, user.invitation_expires_at);
  await store.insertUser(tx, actor.tenantId, user);
  await writeAuditEntries(tx, actor, [{ action: 'user.created', subject, details: { email, role, areas } }]);
}

/** @throws EmailTakenError if a user has the e-mail, also if it is this user */
export async function claimEmail(
  tx: Tx,
  { tenantId }: Actor,
  user: store.EmailHolder,
  heldUntil: Date | null,
): Promise<void> {
  if (!(await store.claimEmail(tx, tenantId, user, heldUntil))) {
    throw new EmailTakenError(user.email);
  }
}

/**
 * A new password and the disabling of the user end all tokens, sessions and one-time links of the user.
 * @throws EmailTakenError if `changes` contains `invitation_expires_at`, and another user took the e-mail when the last invitation expired
 */
export async function changeUser(tx: Tx, actor: Actor, user: store.UserRow, changes: store.UserChanges): Promise<void> {
  if (Object.keys(changes).length === 0) {
    return;
  }
  const { invitation_expires_at: heldUntil } = changes;
  if (heldUntil !== undefined && !(await store.holdEmail(tx, actor.tenantId, user, heldUntil))) {
    await claimEmail(tx, actor, user, heldUntil);
  }
  await store.updateUser(tx, actor.tenantId, user.id, changes);
  await writeAuditEntries(tx, actor, entriesOf(user, changes));
}

function entriesOf(user: store.UserRow, changes: store.UserChanges): NewAuditEntry[] {
  const { id: subject, email } = user;
  const entries: NewAuditEntry[] = [];
  const shown = shownChanges(user, changes).map(({ field, from, to }) => [field, { from, to }]);
  if (shown.length > 0) {
    entries.push({ action: 'user.changed', subject, details: { email, ...Object.fromEntries(shown) } });
  }
  if (changes.password_hash !== undefined) {
    entries.push({ action: 'user.password_changed', subject, details: { email } });
  }
  if (changes.is_active !== undefined) {
    entries.push({ action: changes.is_active ? 'user.enabled' : 'user.disabled', subject, details: { email } });
  }
  return entries;
}

/** Returns the changes whose values people may see. */
export function shownChanges(user: store.UserRow, changes: store.UserChanges): FieldChange[] {
  return (['role', 'name', 'areas'] as const)
    .filter((field) => changes[field] !== undefined)
    .map((field) => ({ field, from: user[field], to: changes[field] }));
}

export async function setPassword(db: Database, tenantId: number, email: string, password: string): Promise<void> {
  const password_hash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    const user = await store.lockUserByEmail(tx, tenantId, normaliseEmail(email));
    if (user === undefined) {
      throw new OperatorError(`The tenant has no user with the e-mail ${email}. Check the tenant and the e-mail.`);
    }
    const changes = differing(user, { password_hash, is_active: true, invitation_expires_at: null });
    await changeUser(tx, { tenantId, type: 'operator', id: null }, user, changes);
  });
}
