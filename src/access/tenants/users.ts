import { type Actor, type NewAuditEntry, writeAuditEntries } from '../audit/audit.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { OperatorError } from '#platform/errors.ts';
import { normaliseEmail } from './email.ts';
import { hashPassword } from './passwords.ts';
import * as store from './store.ts';

/** Adds a user, and writes an audit entry. */
export async function addUser(tx: Tx, actor: Actor, user: store.NewUser): Promise<void> {
  await store.insertUser(tx, actor.tenantId, user);
  const { id: subject, email, role, areas } = user;
  await writeAuditEntries(tx, actor, [{ action: 'user.created', subject, details: { email, role, areas } }]);
}

/** Changes a user, and writes an audit entry for each change. A new password ends all earlier tokens of the user. */
export async function changeUser(tx: Tx, actor: Actor, user: store.UserRow, changes: store.UserChanges): Promise<void> {
  await store.updateUser(tx, actor.tenantId, user.id, changes);
  await writeAuditEntries(tx, actor, entriesOf(user, changes));
}

/** Fields of a user whose changes one audit entry shows, with the old and the new value. */
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

/**
 * Gives a user a new password, and writes an audit entry.
 * @param checked hash of the password that the user has proven to know
 * @param hash hash of the new password
 * @returns the generation of the user with the new password, or null if the user has another password than the checked one by now
 */
export async function replacePassword(
  tx: Tx,
  actor: Actor,
  userId: string,
  { checked, hash }: { checked: string; hash: string },
): Promise<number | null> {
  const user = await store.lockUser(tx, actor.tenantId, userId);
  if (user?.password_hash === hash) {
    return user.generation; // An earlier attempt of this transaction was committed.
  }
  if (user?.password_hash !== checked) {
    return null;
  }
  await changeUser(tx, actor, user, { password_hash: hash });
  return user.generation + 1;
}

/** Changes the user's own name and language, and writes an audit entry for a new name. */
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

/** Returns all users of the tenant, also the disabled ones. */
export async function listUsers(db: Database, tenantId: number): Promise<store.UserRow[]> {
  return await store.listUsers(db, tenantId);
}

/** Returns all users of the tenant, and locks them until the transaction ends. */
export async function lockUsers(tx: Tx, tenantId: number): Promise<store.UserRow[]> {
  return await store.lockUsers(tx, tenantId);
}

/**
 * Returns those of the given e-mails that belong to users of other tenants. An e-mail is unique across all tenants.
 * @param tenantId null for a tenant that does not exist yet
 */
export async function findTakenEmails(db: Database, tenantId: number | null, emails: string[]): Promise<Set<string>> {
  const taken = emails.length === 0 ? [] : await store.findSignIns(db, emails.map(normaliseEmail));
  return new Set(taken.filter((entry) => entry.tenant_id !== tenantId).map((entry) => entry.email));
}

/** Returns true if the tenant has a user with this e-mail address, active or disabled. */
export async function hasUser(db: Database, tenantId: number, email: string): Promise<boolean> {
  const [found] = await store.findSignIns(db, [normaliseEmail(email)]);
  return found?.tenant_id === tenantId;
}

/**
 * Sets a new password for an existing user, and enables the user.
 * @throws OperatorError if the tenant has no user with this e-mail
 */
export async function setPassword(db: Database, tenantId: number, email: string, password: string): Promise<void> {
  const password_hash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    const user = (await store.lockUsers(tx, tenantId)).find((each) => each.email === normaliseEmail(email));
    if (user === undefined) {
      throw new OperatorError(`The tenant has no user with the e-mail ${email}.`);
    }
    if (user.password_hash !== password_hash) {
      const changes = { password_hash, ...(user.is_active ? {} : { is_active: true }) };
      await changeUser(tx, { tenantId, type: 'operator', id: null }, user, changes);
    }
  });
}
