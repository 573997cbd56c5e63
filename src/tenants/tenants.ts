import { isDeepStrictEqual } from 'node:util';
import { type Actor, prepareAudit } from '../audit/audit.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { apiError, OperatorError } from '../errors.ts';
import { newId } from '../lib/ids.ts';
import { decoyHash, hashPassword, isPassword } from './passwords.ts';
import type { Feature, Role, SignInResponse } from './schema.ts';
import * as store from './store.ts';
import { issueToken, TOKEN_SECONDS, type TokenSubject, type VerifyToken } from './tokens.ts';

export type { Feature, Role } from './schema.ts';

export interface Tenant {
  id: number;
  slug: string;
  name: string;
  currency: string;
  timezone: string;
  features: Feature[];
}

/** A person as the audit trail names them. */
export function actorOf(person: Person): Actor {
  return { tenantId: person.tenant.id, type: 'user', id: person.userId };
}

/** Who signed in: the owner or a member of the staff of one tenant. */
export interface Person {
  userId: string;
  role: Role;
  tenant: Tenant;
}

export interface UserDocument {
  email: string;
  password: string;
  role: Role;
}

function tenantOf(row: store.TenantRow): Tenant {
  const { id, slug, name, currency, timezone, features } = row;
  return { id, slug, name, currency, timezone, features: features as Feature[] };
}

export async function listTenants(db: Database): Promise<Tenant[]> {
  return (await store.listTenants(db)).map(tenantOf);
}

export async function findTenantBySlug(db: Database | Tx, slug: string): Promise<Tenant | null> {
  const row = await store.findTenantBySlug(db, slug);
  return row === undefined ? null : tenantOf(row);
}

/**
 * Creates the tenant or brings it to the given values; writes nothing where it has them already. Either way the tenant's row is
 * locked: of two documents applied at once, one comes whole after the other.
 * @returns its id
 */
export async function saveTenant(tx: Tx, tenant: Omit<Tenant, 'id'>): Promise<number> {
  const stored = await store.lockTenantBySlug(tx, tenant.slug);
  return stored !== undefined && isDeepStrictEqual(tenantOf(stored), { id: stored.id, ...tenant })
    ? stored.id
    : await store.upsertTenant(tx, tenant);
}

export interface SignInAttempt {
  email: string;
  password: string;
  /** Where it comes from, for the audit trail. */
  address: string;
}

interface SignInDependencies {
  db: Database;
  tokenKey: Buffer;
  /** Told when a failed attempt could not be written down. */
  onError: (error: unknown) => void;
}

/**
 * Checks e-mail and password and issues an access token (decision 12). A failure for a known user is written down beside the
 * answer, not before it: the time it takes would tell which e-mails there are.
 * @throws ApiError 401 `invalid_credentials`, the same for an unknown e-mail, a wrong password and a disabled user
 */
export async function signIn(
  { db, tokenKey, onError }: SignInDependencies,
  { email, password, address }: SignInAttempt,
): Promise<SignInResponse> {
  const user = await store.findUserByEmail(db, normaliseEmail(email));
  const isRight = await isPassword(password, user?.password_hash ?? (await decoyHash()));
  if (user === undefined || !isRight || !user.is_active) {
    if (user !== undefined) {
      const writeDown = prepareAudit({ tenantId: user.tenant_id, type: 'anonymous', id: null });
      void writeDown(db, { action: 'sign_in.failed', subject: user.id, details: { email: user.email, address } }).catch(
        onError,
      );
    }
    throw apiError('invalid_credentials', 'The e-mail or the password is wrong.', { 'www-authenticate': 'Bearer' });
  }
  const { id, name, features } = tenantOf(user.tenant);
  return {
    access_token: await issueToken(tokenKey, { tenantId: id, userId: user.id, generation: user.generation }),
    token_type: 'Bearer',
    expires_in: TOKEN_SECONDS,
    role: user.role as Role,
    tenant: { id, name, features },
  };
}

/**
 * The person behind an `Authorization` header. The user's row is read at every use, so a disabled user stops at once, and so does
 * what was signed in with an earlier password.
 * @throws ApiError 401 `invalid_credentials` for a missing, expired or forged token, for one of an earlier password, and for a
 * disabled or unknown user
 */
export async function authenticatePerson(
  db: Database,
  verifyToken: VerifyToken,
  authorization: string | undefined,
): Promise<Person> {
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
  const subject = token === undefined ? null : await verifyToken(token);
  const user = subject === null ? undefined : await findSubject(db, subject);
  if (user === undefined || !user.is_active) {
    throw apiError('invalid_credentials', 'A valid bearer token is required. Sign in at /v1/auth/token/.', {
      'www-authenticate': 'Bearer',
    });
  }
  return { userId: user.id, role: user.role as Role, tenant: tenantOf(user.tenant) };
}

async function findSubject(db: Database, subject: TokenSubject) {
  if ('email' in subject) {
    return await store.findUserByEmail(db, normaliseEmail(subject.email));
  }
  const user = await store.findUser(db, subject.tenantId, subject.userId);
  return user?.generation === subject.generation ? user : undefined;
}

/** E-mails are compared without regard to case, as people type them. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** E-mails of the list that already belong to another tenant: a user's e-mail is unique across all tenants. */
export async function emailsOfOthers(db: Database, tenantId: number | null, emails: string[]): Promise<Set<string>> {
  const taken = emails.length === 0 ? [] : await store.findSignIns(db, emails.map(normaliseEmail));
  return new Set(taken.filter((entry) => entry.tenant_id !== tenantId).map((entry) => entry.email));
}

/** What has to be written so that a tenant has exactly the given users; passwords already hashed. */
export interface UserPlan {
  inserts: store.UserValues[];
  updates: { id: string; changes: { password_hash?: string; role?: string; is_active?: boolean } }[];
}

/**
 * Compares the document's users with the stored ones. Hashing is slow on purpose, so it is done here, before any transaction,
 * and only for new users and changed passwords. A user the document no longer names is disabled (decision 12).
 */
export async function planUsers(db: Database, tenantId: number | null, users: UserDocument[]): Promise<UserPlan> {
  const stored = tenantId === null ? [] : await store.listUsers(db, tenantId);
  const plan: UserPlan = { inserts: [], updates: [] };
  for (const { email, password, role } of users) {
    const known = stored.find((user) => user.email === normaliseEmail(email));
    if (known === undefined) {
      const password_hash = await hashPassword(password);
      plan.inserts.push({ id: newId(), email: normaliseEmail(email), password_hash, role });
      continue;
    }
    const changes = {
      ...((await isPassword(password, known.password_hash)) ? {} : { password_hash: await hashPassword(password) }),
      ...(known.role === role ? {} : { role }),
      ...(known.is_active ? {} : { is_active: true }),
    };
    if (Object.keys(changes).length > 0) {
      plan.updates.push({ id: known.id, changes });
    }
  }
  const named = new Set(users.map((user) => normaliseEmail(user.email)));
  const gone = stored.filter((user) => user.is_active && !named.has(user.email));
  plan.updates.push(...gone.map((user) => ({ id: user.id, changes: { is_active: false } })));
  return plan;
}

export async function applyUserPlan(tx: Tx, tenantId: number, plan: UserPlan): Promise<void> {
  for (const user of plan.inserts) {
    await store.insertUser(tx, tenantId, user);
  }
  for (const { id, changes } of plan.updates) {
    await store.updateUser(tx, tenantId, id, changes);
  }
}

/** Whether the tenant has a user of that e-mail address, disabled or not. */
export async function hasUser(db: Database, tenantId: number, email: string): Promise<boolean> {
  const [found] = await store.findSignIns(db, [normaliseEmail(email)]);
  return found?.tenant_id === tenantId;
}

/** Gives an existing user a new password and lets them in again. @throws OperatorError when there is no such user */
export async function setPassword(db: Database, tenantId: number, email: string, password: string): Promise<void> {
  const user = (await store.listUsers(db, tenantId)).find((each) => each.email === normaliseEmail(email));
  if (user === undefined) {
    throw new OperatorError(`There is no user ${email}.`);
  }
  const password_hash = await hashPassword(password);
  await inTransaction(db, (tx) => store.updateUser(tx, tenantId, user.id, { password_hash, is_active: true }));
}
