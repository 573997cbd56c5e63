import { isDeepStrictEqual } from 'node:util';
import { type Actor, type NewAuditEntry, writeAuditEntries } from '../audit/audit.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { ApiError, apiError, OperatorError } from '#platform/errors.ts';
import { trimmed } from '#platform/lib/unicode.ts';
import { hashPassword, unusableHash } from './passwords.ts';
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

export function isActiveOwner(
  user: Pick<store.UserRow, 'is_active' | 'invitation_expires_at'> & { role: unknown },
): boolean {
  return user.role === 'owner' && user.is_active && !isInvited(user);
}

export function differing<Wanted extends Partial<store.UserRow>>(user: store.UserRow, wanted: Wanted): Partial<Wanted> {
  const before = new Map<string, unknown>(Object.entries(user));
  return Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => !isDeepStrictEqual(before.get(field), value)),
  ) as Partial<Wanted>;
}

export async function addUser(tx: Tx, actor: Actor, user: store.NewUser): Promise<void> {
  const { id: subject, email, role, areas } = user;
  await claim(tx, actor, user, user.invitation_expires_at);
  await store.insertUser(tx, actor.tenantId, user);
  await writeAuditEntries(tx, actor, [{ action: 'user.created', subject, details: { email, role, areas } }]);
}

export const NOT_DOCUMENTED = {
  is_in_document: false,
  document_role: null,
  document_password_hash: null,
  document_name: null,
  document_areas: null,
};

export async function addInvited(
  tx: Tx,
  actor: Actor,
  person: Pick<store.NewUser, 'id' | 'email' | 'role' | 'name' | 'areas' | 'invitation_expires_at'>,
): Promise<void> {
  await addUser(tx, actor, { ...person, password_hash: unusableHash(), ...NOT_DOCUMENTED });
}

export async function inviteAgain(
  tx: Tx,
  actor: Actor,
  person: store.UserRow,
  changes: store.UserChanges & { invitation_expires_at: Date },
): Promise<void> {
  await claim(tx, actor, person, changes.invitation_expires_at);
  await changeUser(tx, actor, person, changes);
}

async function claim(
  tx: Tx,
  { tenantId }: Actor,
  { id: userId, email }: Pick<store.NewUser, 'id' | 'email'>,
  heldUntil: Date | null,
): Promise<void> {
  if (!(await store.claimEmail(tx, { tenantId, userId, email, heldUntil }))) {
    throw new EmailTakenError(email);
  }
}

/**
 * A new password and the disabling of the user end all tokens, sessions and one-time links of the user.
 * @throws EmailTakenError if `changes` contains `invitation_expires_at` and another user has the e-mail. An invitation reserves the e-mail
 * only for a limited time. So another user may have taken the e-mail after an earlier invitation of this user had expired
 */
export async function changeUser(tx: Tx, actor: Actor, user: store.UserRow, changes: store.UserChanges): Promise<void> {
  const { invitation_expires_at: heldUntil } = changes;
  if (heldUntil !== undefined) {
    const { id: userId, email } = user;
    const isHeld = await store.holdEmail(tx, { tenantId: actor.tenantId, userId, email, heldUntil });
    await (isHeld ? null : claim(tx, actor, user, heldUntil));
  }
  await store.updateUser(tx, actor.tenantId, user.id, changes);
  await writeAuditEntries(tx, actor, entriesOf(user, changes));
}

const SHOWN_FIELDS = ['role', 'name', 'areas'] as const;

function entriesOf(user: store.UserRow, changes: store.UserChanges): NewAuditEntry[] {
  const { id: subject, email } = user;
  const entries: NewAuditEntry[] = [];
  const shown = SHOWN_FIELDS.filter((field) => changes[field] !== undefined);
  if (shown.length > 0) {
    const fields = shown.map((field) => [field, { from: user[field], to: changes[field] }]);
    entries.push({ action: 'user.changed', subject, details: { email, ...Object.fromEntries(fields) } });
  }
  if (changes.password_hash !== undefined) {
    entries.push({ action: 'user.password_changed', subject, details: { email } });
  }
  if (changes.is_active !== undefined) {
    entries.push({ action: changes.is_active ? 'user.enabled' : 'user.disabled', subject, details: { email } });
  }
  return entries;
}

/** Gives a user a new password if the stored hash is still `checked`. Returns the new generation of the user, or else null. */
export async function replacePassword(
  tx: Tx,
  actor: Actor,
  userId: string,
  { checked, hash }: { checked: string; hash: string },
): Promise<number | null> {
  const user = await store.lockUser(tx, actor.tenantId, userId);
  if (user?.password_hash === hash) {
    // An earlier attempt of this transaction has stored this hash. Its COMMIT succeeded, but the response to the COMMIT was lost.
    return user.generation;
  }
  if (user?.password_hash !== checked) {
    return null;
  }
  await changeUser(tx, actor, user, { password_hash: hash });
  return user.generation + 1;
}

export async function changeProfile(
  tx: Tx,
  actor: Actor,
  userId: string,
  wanted: { name?: string; language?: string },
): Promise<void> {
  const user = await store.lockUser(tx, actor.tenantId, userId);
  const { name, language } = wanted;
  const changes: store.UserChanges = {
    ...(name === undefined || name === user?.name ? {} : { name }),
    ...(language === undefined || language === user?.language ? {} : { language }),
  };
  if (user !== undefined && Object.keys(changes).length > 0) {
    await changeUser(tx, actor, user, changes);
  }
}

/** Returns those of the given e-mails that belong to users of other tenants. */
export async function findTakenEmails(db: Database, tenantId: number | null, emails: string[]): Promise<Set<string>> {
  const taken = emails.length === 0 ? [] : await store.findSignIns(db, emails.map(normaliseEmail));
  const isTaken = (entry: store.SignInEntry) => entry.tenant_id !== tenantId && !entry.is_free;
  return new Set(taken.filter(isTaken).map(({ email }) => email));
}

export async function setPassword(db: Database, tenantId: number, email: string, password: string): Promise<void> {
  const password_hash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    const user = await store.lockUserByEmail(tx, tenantId, normaliseEmail(email));
    if (user === undefined) {
      throw new OperatorError(`The tenant has no user with the e-mail ${email}. Check the tenant and the e-mail.`);
    }
    if (user.password_hash !== password_hash) {
      const changes = {
        password_hash,
        ...(user.is_active ? {} : { is_active: true }),
        ...(isInvited(user) ? { invitation_expires_at: null } : {}),
      };
      await changeUser(tx, { tenantId, type: 'operator', id: null }, user, changes);
    }
  });
}
