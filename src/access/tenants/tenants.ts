/** Tenants and their users: passwords, tokens, sign-ins, areas. */
import type { Actor } from '../audit/audit.ts';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { type Change, describeFields } from '#platform/lib/change-list.ts';
import type { Area, Feature, Role } from './schema.ts';
import * as store from './store.ts';
import type { TokenSubject, VerifyToken } from './tokens.ts';
import { areasOf, isInvited, normaliseEmail, notSignedIn } from './users.ts';

export { activeOwnersLost, applyUsers, planUsers, type UserPlan, UsersChangedError } from './documented-users.ts';
export { hashPassword, unusableHash } from './passwords.ts';
export { SignInAttempts } from './sign-in.ts';
export {
  findTakenEmails,
  isUseDue,
  listUsers,
  lockOwnersAndPerson,
  lockUser,
  lockUserByEmail,
  type TenantRow,
  updateLastUses,
  type UserRow,
} from './store.ts';
export {
  addUser,
  areasOf,
  changeUser,
  claimEmail,
  differing,
  EmailTakenError,
  isActiveOwner,
  isInvited,
  normaliseEmail,
  NOT_DOCUMENTED,
  notSignedIn,
  setPassword,
} from './users.ts';
export {
  type Area,
  AREAS,
  Areas,
  type Feature,
  Feature as FeatureName,
  NewPassword,
  orderedAreas,
  Password,
  PersonName,
  Role,
  SignInEmail,
  UserDocument,
} from './schema.ts';
export type { VerifyToken } from './tokens.ts';

export type Tenant = Omit<store.TenantRow, 'created_at' | 'features'> & { features: Feature[] };

export function actorOf({ type, id, tenant }: Pick<Staff, 'type' | 'id' | 'tenant'>): Actor {
  return { tenantId: tenant.id, type: type === 'person' ? 'user' : 'display', id };
}

export interface Staff {
  type: 'person' | 'display';
  id: string;
  /** Name of the person, or label of the display. Null for a person without a name. */
  name: string | null;
  /** E-mail address of the person. Null for a display. `role` and `language` are also null for a display. */
  email: string | null;
  role: Role | null;
  areas: Area[];
  /** Language of the person, as a BCP 47 tag. Null for a display, and for a person who has chosen no language. */
  language: string | null;
  tenant: Tenant;
  session: StaffSession;
}

interface StaffSession {
  kind: 'person' | 'display' | 'token';
  /** Id of the session. Null for a token. */
  id: string | null;
  /** Generation of the person at a call with a token, because a new password ends the streams of the token. Null for a session. */
  generation: number | null;
  /** Time at which the token or the session ends. A session may end later if it is used again after this call. */
  expiresAt: Date;
  /** By the clock of the database. */
  now: Date;
}

export function personOf(
  user: Pick<store.UserRow, 'id' | 'name' | 'email' | 'role' | 'areas' | 'language'> & { tenant: store.TenantRow },
  session: StaffSession,
): Staff {
  const { id, name, email, role, language, tenant } = user;
  const facts = { id, name, email, role: role as Role, areas: areasOf(user), language };
  return { type: 'person', ...facts, tenant: tenantOf(tenant), session };
}

export function tenantOf(row: store.TenantRow): Tenant {
  const { id, slug, name, currency, timezone, features } = row;
  return { id, slug, name, currency, timezone, features: features as Feature[] };
}

export async function listTenants(db: Database): Promise<Tenant[]> {
  return (await store.listTenants(db)).map(tenantOf);
}

export async function findTenantBySlug(db: Db, slug: string): Promise<Tenant | null> {
  const row = await store.findTenantBySlug(db, slug);
  return row === undefined ? null : tenantOf(row);
}

/** Locks the stored row even if all values are equal, so that of two documents for one tenant, the second waits for the first. */
export async function saveTenant(tx: Tx, tenant: Omit<Tenant, 'id'>): Promise<{ id: number; changes: Change[] }> {
  const stored = await store.lockTenantBySlug(tx, tenant.slug);
  const fields = stored === undefined ? [] : describeFields(tenantOf(stored), tenant);
  if (stored !== undefined && fields.length === 0) {
    return { id: stored.id, changes: [] };
  }
  const change = stored === undefined ? 'added' : 'changed';
  const id = await store.upsertTenant(tx, tenant);
  return { id, changes: [{ what: 'tenant', name: tenant.slug, change, fields }] };
}

/** Reads the user's row at every call, so that disabling a user or changing the password takes effect immediately. */
export async function authenticateToken(db: Database, verifyToken: VerifyToken, authorization: string | undefined) {
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
  const subject = token === undefined ? null : await verifyToken(token);
  const user = subject === null ? undefined : await findSubject(db, subject);
  if (subject === null || user === undefined || !user.is_active || isInvited(user)) {
    if (subject !== null && 'email' in subject) {
      subject.noteRefusal('no active person has the e-mail of the token');
    }
    throw notSignedIn('A valid bearer token is required. Sign in at /v1/auth/token/.');
  }
  const { generation, now } = user;
  return {
    person: personOf(user, { kind: 'token', id: null, generation, expiresAt: subject.expiresAt, now }),
    isFromProvider: 'email' in subject,
    isSeenDue: user.is_seen_due,
  };
}

async function findSubject(db: Database, subject: TokenSubject) {
  if ('email' in subject) {
    return await store.findUserByEmail(db, normaliseEmail(subject.email));
  }
  const { tenantId, userId } = subject;
  const user = await store.findUser(db, tenantId, userId);
  return user?.generation === subject.generation ? user : undefined;
}
