import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../audit/audit.ts';
import type { Tx } from '#platform/db/database.ts';
import type { Change } from '#platform/lib/change-list.ts';
import { newId } from '#platform/lib/ids.ts';
import { hashPassword, isPassword, unusableHash } from './passwords.ts';
import { OperatorError } from '#platform/errors.ts';
import { DOCUMENT_AREAS, orderedAreas, type Role, type UserDocument } from './schema.ts';
import { lockUsers, type NewUser, type UserChanges, type UserRow } from './store.ts';
import {
  addUser,
  changeUser,
  differing,
  isActiveOwner,
  NOT_DOCUMENTED,
  normaliseEmail,
  shownChanges,
} from './users.ts';

/** Users to insert and to update so that the tenant matches a tenant document. The passwords are already hashed. */
export interface UserPlan {
  stored: UserRow[];
  inserts: NewUser[];
  updates: { user: UserRow; changes: UserChanges }[];
  users: { email: string; role: Role }[];
}

export class UsersChangedError extends OperatorError {
  constructor() {
    super('The users of the tenant were changed while the document was applied. Nothing was changed. Apply it again.');
  }
}

/**
 * Makes the changes of a plan, and writes an audit entry for each of them.
 * @throws UsersChangedError if the users of the tenant have changed since the plan was made
 */
export async function applyUsers(tx: Tx, actor: Actor, plan: UserPlan): Promise<Change[]> {
  const stored = await lockUsers(tx, actor.tenantId);
  if (!isDeepStrictEqual(stored.map(withoutUse), plan.stored.map(withoutUse))) {
    throw new UsersChangedError();
  }
  for (const user of plan.inserts) {
    await addUser(tx, actor, user);
  }
  for (const { user, changes } of plan.updates) {
    await changeUser(tx, actor, user, changes);
  }
  return [
    ...plan.inserts.map(({ email }) => ({ what: 'user', name: email, change: 'added' as const, fields: [] })),
    ...plan.updates.flatMap(({ user, changes }) => describeChanges(user, changes)),
  ];
}

function withoutUse({ last_seen_at: _, ...user }: UserRow): Omit<UserRow, 'last_seen_at'> {
  return user;
}

/** User of a tenant document whose fields were not validated. The e-mail is normalised. */
interface NamedUser {
  email: string;
  role: unknown;
  password?: unknown;
}

/** Returns the e-mail addresses of the active owners if the document would leave the tenant without one, else an empty list. */
export function activeOwnersLost(stored: UserRow[], users: NamedUser[]): string[] {
  const named = new Set(users.map(({ email }) => email));
  const after = [
    ...users.map((document) =>
      outcomeOf(
        stored.find(({ email }) => email === document.email),
        document,
      ),
    ),
    ...stored.filter(({ email, document_role }) => document_role === null && !named.has(email)),
  ];
  return after.some(isActiveOwner) ? [] : stored.filter(isActiveOwner).map((user) => user.email);
}

/** If the document has a password for an invited person, the invitation ends, because the person can sign in with this password. */
function outcomeOf<Said>(user: UserRow | undefined, { role, password }: { role: Said; password?: unknown }) {
  return {
    role: user !== undefined && user.document_role === role ? user.role : role,
    is_active: user === undefined || user.is_active || user.document_role === null,
    invitation_expires_at: password === undefined ? (user?.invitation_expires_at ?? null) : null,
  };
}

/**
 * If this document has no areas for a user, there are two cases:
 * - A stored user who was not in the previous document keeps the stored areas. An owner has chosen these areas, and the default might add
 *   areas to them.
 * - For every other user, the default `DOCUMENT_AREAS` takes the place of the missing areas. The default is all areas except `rates`.
 */
function profileOf(user: UserRow | undefined, { name, areas: said }: UserDocument) {
  const document_areas = said === undefined ? null : orderedAreas(said);
  const documented = { document_name: name ?? null, document_areas };
  const areas = document_areas ?? [...DOCUMENT_AREAS];
  if (user === undefined) {
    return { ...documented, name: documented.document_name, areas };
  }
  const isFirst = user.document_role === null;
  const keepsAreas = isFirst ? said === undefined : isDeepStrictEqual(areas, user.document_areas ?? DOCUMENT_AREAS);
  const keepsName = name === undefined || name === user.document_name;
  return { ...documented, name: keepsName ? user.name : name, areas: keepsAreas ? user.areas : areas };
}

/**
 * Plans the changes of the users of a tenant document. Disables a user who is in the previous document but not in this one. Writes a value
 * only if this document and the previous one have different values. All other values stay as they are stored, because an owner may have
 * changed them after the previous document was applied (rule 12). Hashing passwords is slow, so no transaction should wait for a plan.
 */
export async function planUsers(stored: UserRow[], users: UserDocument[]): Promise<UserPlan> {
  const plan: UserPlan = { stored, inserts: [], updates: [], users: [] };
  for (const document of users) {
    const email = normaliseEmail(document.email);
    const user = stored.find((each) => each.email === email);
    const wanted = {
      ...outcomeOf(user, document),
      ...profileOf(user, document),
      ...(await passwordOf(user, document)),
      document_role: document.role,
    };
    if (user === undefined) {
      plan.inserts.push({ id: newId(), email, ...wanted });
    } else {
      plan.updates.push({ user, changes: differing(user, wanted) });
    }
    plan.users.push({ email, role: wanted.role as Role });
  }
  const named = new Set(plan.users.map(({ email }) => email));
  for (const user of stored.filter(({ email, document_role }) => document_role !== null && !named.has(email))) {
    plan.updates.push({ user, changes: { ...NOT_DOCUMENTED, ...differing(user, { is_active: false }) } });
  }
  return plan;
}

/** The hash of the password in the document is also stored on its own, so that the next document can be compared with it. */
async function passwordOf(user: UserRow | undefined, { password }: UserDocument) {
  if (password === undefined) {
    // The validation of the document requires a password of a new user.
    return { password_hash: user?.password_hash ?? unusableHash(), document_password_hash: null };
  }
  const said = user?.document_password_hash ?? null;
  if (user !== undefined && said !== null && (await isPassword(password, said))) {
    return { password_hash: user.password_hash, document_password_hash: said };
  }
  const isStored = user !== undefined && (await isPassword(password, user.password_hash));
  const hash = isStored ? user.password_hash : await hashPassword(password);
  return { password_hash: hash, document_password_hash: hash };
}

function describeChanges(user: UserRow, changes: UserChanges): Change[] {
  const { password_hash, is_active } = changes;
  const fields = [...shownChanges(user, changes), ...(password_hash === undefined ? [] : [{ field: 'password' }])];
  if (is_active !== undefined) {
    return [{ what: 'user', name: user.email, change: is_active ? 'enabled' : 'disabled', fields }];
  }
  return fields.length === 0 ? [] : [{ what: 'user', name: user.email, change: 'changed', fields }];
}
