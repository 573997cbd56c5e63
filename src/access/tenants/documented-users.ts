import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../audit/audit.ts';
import type { Tx } from '#platform/db/database.ts';
import type { Change, FieldChange } from '#platform/lib/change-list.ts';
import { newId } from '#platform/lib/ids.ts';
import { hashPassword, isPassword, unusableHash } from './passwords.ts';
import { OperatorError } from '#platform/errors.ts';
import { type Area, DOCUMENT_AREAS, orderedAreas, type Role } from './schema.ts';
import { lockUsers, type NewUser, type UserChanges, type UserRow } from './store.ts';
import { addUser, changeUser, differing, isActiveOwner, NOT_DOCUMENTED, normaliseEmail } from './users.ts';

/**
 * One user in a tenant document, which is the JSON file that describes a whole tenant. The password may be missing only for an existing
 * user, who then keeps the stored password. A user without a name in the document keeps the stored name.
 */
export interface UserDocument {
  email: string;
  password?: string;
  role: Role;
  name?: string;
  areas?: Area[];
}

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

/** User of a tenant document. Only the e-mail of the user has been validated, so the other fields may have any value. */
type NamedUser = { email: string; role: unknown; password?: unknown };

/** Returns the e-mail addresses of the active owners if the document would leave the tenant without one, else an empty list. */
export function activeOwnersLost(stored: UserRow[], users: NamedUser[]): string[] {
  const byEmail = new Map(users.map((user) => [normaliseEmail(user.email), user]));
  const known = new Set(stored.map((user) => user.email));
  const outcomes = [
    ...stored.map((user) => outcomeOf(user, byEmail.get(user.email))),
    ...users.filter((user) => !known.has(normaliseEmail(user.email))).map((user) => outcomeOf(undefined, user)),
  ];
  return outcomes.some(isActiveOwner) ? [] : stored.filter(isActiveOwner).map((user) => user.email);
}

/**
 * If this document has no areas for a user, there are two cases:
 * - A stored user who was not in the previous document keeps the stored areas. An owner has chosen these areas, and the default might add
 *   areas to them.
 * - For every other user, the default `DOCUMENT_AREAS` takes the place of the missing areas. The default is all areas except `rates`.
 */
function profileOf(user: UserRow | undefined, document: UserDocument) {
  const said = {
    document_name: document.name ?? null,
    document_areas: document.areas === undefined ? null : orderedAreas(document.areas),
  };
  const areas = said.document_areas ?? [...DOCUMENT_AREAS];
  if (user === undefined) {
    return { ...said, areas, name: said.document_name };
  }
  const areasBefore = user.is_in_document ? (user.document_areas ?? DOCUMENT_AREAS) : null;
  const keepsAreas = areasBefore === null ? document.areas === undefined : isDeepStrictEqual(areas, areasBefore);
  const keepsName = document.name === undefined || (user.is_in_document && document.name === user.document_name);
  return { ...said, areas: keepsAreas ? user.areas : areas, name: keepsName ? user.name : said.document_name };
}

/** If the document has a password for an invited person, the invitation ends, because the person can sign in with this password. */
function outcomeOf(user: UserRow | undefined, document: Omit<NamedUser, 'email'> | undefined) {
  if (user === undefined || document === undefined) {
    return {
      role: (user ?? document)?.role,
      is_active: user === undefined || (user.is_active && !user.is_in_document),
      invitation_expires_at: user?.invitation_expires_at ?? null,
    };
  }
  const isRoleUnchanged = user.is_in_document && user.document_role === document.role;
  return {
    role: isRoleUnchanged ? user.role : document.role,
    is_active: user.is_active || !user.is_in_document,
    invitation_expires_at: document.password === undefined ? user.invitation_expires_at : null,
  };
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
    if (user === undefined) {
      plan.inserts.push(await newUser(document));
    } else {
      plan.updates.push({ user, changes: await changesOf(user, document) });
    }
    plan.users.push({ email, role: outcomeOf(user, document).role as Role });
  }
  const named = new Set(plan.users.map(({ email }) => email));
  for (const user of stored.filter(({ email, is_in_document }) => is_in_document && !named.has(email))) {
    plan.updates.push({ user, changes: { ...NOT_DOCUMENTED, ...(user.is_active ? { is_active: false } : {}) } });
  }
  plan.updates = plan.updates.filter(({ changes }) => Object.keys(changes).length > 0);
  return plan;
}

async function newUser(document: UserDocument): Promise<NewUser> {
  const { email, password, role } = document;
  // The validation of the document requires a password of a new user.
  const password_hash = password === undefined ? unusableHash() : await hashPassword(password);
  return {
    id: newId(),
    email: normaliseEmail(email),
    role,
    password_hash,
    is_in_document: true,
    document_role: role,
    document_password_hash: password_hash,
    invitation_expires_at: null,
    ...profileOf(undefined, document),
  };
}

async function changesOf(user: UserRow, document: UserDocument): Promise<UserChanges> {
  const { role, is_active, invitation_expires_at } = outcomeOf(user, document);
  const { password_hash, said } = await passwordOf(user, document);
  return differing(user, {
    role: role as Role,
    is_active,
    invitation_expires_at,
    password_hash,
    is_in_document: true,
    document_role: document.role,
    document_password_hash: said,
    ...profileOf(user, document),
  });
}

/** `said` is the hash of the password in the document, or null. It is stored so that the next document can be compared with it. */
async function passwordOf(user: UserRow, { password }: UserDocument) {
  const { password_hash, document_password_hash: saidBefore } = user;
  if (password === undefined) {
    return { password_hash, said: null };
  }
  if (saidBefore !== null && (await isPassword(password, saidBefore))) {
    return { password_hash, said: saidBefore };
  }
  const hash = (await isPassword(password, password_hash)) ? password_hash : await hashPassword(password);
  return { password_hash: hash, said: hash };
}

function describeChanges(user: UserRow, { role, password_hash, is_active, name, areas }: UserChanges): Change[] {
  const fields: FieldChange[] = [
    ...(role === undefined ? [] : [{ field: 'role', from: user.role, to: role }]),
    ...(name === undefined ? [] : [{ field: 'name', from: user.name, to: name }]),
    ...(areas === undefined ? [] : [{ field: 'areas', from: user.areas, to: areas }]),
    ...(password_hash === undefined ? [] : [{ field: 'password' }]),
  ];
  if (is_active !== undefined) {
    return [{ what: 'user', name: user.email, change: is_active ? 'enabled' : 'disabled', fields }];
  }
  return fields.length === 0 ? [] : [{ what: 'user', name: user.email, change: 'changed', fields }];
}
