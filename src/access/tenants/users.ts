import { type Actor, type NewAuditEntry, writeAuditEntries } from '../audit/audit.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { OperatorError } from '#platform/errors.ts';
import { normaliseEmail } from './email.ts';
import { hashPassword } from './passwords.ts';
import * as store from './store.ts';

/** Adds a user, and writes it down. */
export async function addUser(tx: Tx, actor: Actor, user: store.NewUser): Promise<void> {
  await store.insertUser(tx, actor.tenantId, user);
  const { id: subject, email, role } = user;
  await writeAuditEntries(tx, actor, [{ action: 'user.created', subject, details: { email, role } }]);
}

/** Changes a user, and writes it down. A new password ends every token that an earlier one opened. */
export async function changeUser(tx: Tx, actor: Actor, user: store.UserRow, changes: store.UserChanges): Promise<void> {
  await store.updateUser(tx, actor.tenantId, user.id, changes);
  await writeAuditEntries(tx, actor, entriesOf(user, changes));
}

function entriesOf({ id: subject, email, role }: store.UserRow, changes: store.UserChanges): NewAuditEntry[] {
  const entries: NewAuditEntry[] = [];
  if (changes.role !== undefined) {
    entries.push({ action: 'user.changed', subject, details: { email, role: { from: role, to: changes.role } } });
  }
  if (changes.password_hash !== undefined) {
    entries.push({ action: 'user.password_changed', subject, details: { email } });
  }
  if (changes.is_active !== undefined) {
    entries.push({ action: changes.is_active ? 'user.enabled' : 'user.disabled', subject, details: { email } });
  }
  return entries;
}

/** Every user of the tenant, disabled or not, as they are now. */
export async function listUsers(db: Database, tenantId: number): Promise<store.UserRow[]> {
  return await store.listUsers(db, tenantId);
}

/** The same; none of them is changed by others until the transaction ends. */
export async function lockUsers(tx: Tx, tenantId: number): Promise<store.UserRow[]> {
  return await store.lockUsers(tx, tenantId);
}

/** E-mails of the list that already belong to another tenant: a user's e-mail is unique across all tenants. */
export async function emailsOfOthers(db: Database, tenantId: number | null, emails: string[]): Promise<Set<string>> {
  const taken = emails.length === 0 ? [] : await store.findSignIns(db, emails.map(normaliseEmail));
  return new Set(taken.filter((entry) => entry.tenant_id !== tenantId).map((entry) => entry.email));
}

/** Whether the tenant has a user of that e-mail address, disabled or not. */
export async function hasUser(db: Database, tenantId: number, email: string): Promise<boolean> {
  const [found] = await store.findSignIns(db, [normaliseEmail(email)]);
  return found?.tenant_id === tenantId;
}

/** Gives an existing user a new password and lets them in again. @throws OperatorError when there is no such user */
export async function setPassword(db: Database, tenantId: number, email: string, password: string): Promise<void> {
  const password_hash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    const user = (await store.lockUsers(tx, tenantId)).find((each) => each.email === normaliseEmail(email));
    if (user === undefined) {
      throw new OperatorError(`There is no user ${email}.`);
    }
    if (user.password_hash !== password_hash) {
      const changes = { password_hash, ...(user.is_active ? {} : { is_active: true }) };
      await changeUser(tx, { tenantId, type: 'operator', id: null }, user, changes);
    }
  });
}
