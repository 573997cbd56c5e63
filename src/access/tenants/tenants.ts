import type { Actor } from '../audit/audit.ts';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { chargeTo } from '#platform/lib/account.ts';
import { apiError } from '#platform/errors.ts';
import { type Change, describeFields } from '#platform/lib/change-list.ts';
import { normaliseEmail } from './email.ts';
import type { Feature, Role } from './schema.ts';
import * as store from './store.ts';
import type { TokenSubject, VerifyToken } from './tokens.ts';

export {
  applyUsers,
  createPasswordWork,
  activeOwnersLost,
  type PasswordWork,
  prepareUsers,
  type UserDocument,
} from './documented-users.ts';
export { normaliseEmail } from './email.ts';
export { findTakenEmails, hasUser, listUsers, lockUsers, setPassword } from './users.ts';
export type { Feature, Role } from './schema.ts';

export interface Tenant {
  id: number;
  slug: string;
  name: string;
  currency: string;
  timezone: string;
  features: Feature[];
}

/** Returns the signed-in user as the actor that the audit trail records for a change. */
export function actorOf(person: Person): Actor {
  return { tenantId: person.tenant.id, type: 'user', id: person.userId };
}

/** Signed-in user: an owner or a member of the staff of one tenant. */
export interface Person {
  userId: string;
  role: Role;
  tenant: Tenant;
}

function tenantOf(row: store.TenantRow): Tenant {
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

/**
 * Creates the tenant, or updates it if a stored value differs from `tenant`. Locks the stored row even if all values are equal, so that two
 * documents for the same tenant are applied one after the other.
 * @returns the id of the tenant, and the changes
 */
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

/**
 * Returns the signed-in user of an `Authorization` header. Reads the user's row at every call, so that disabling a user or changing
 * the password takes effect immediately.
 * @throws ApiError 401 `invalid_credentials` for a missing, expired or forged token, for a token from before the last change of the
 * password, and for a disabled or unknown user
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
  const { tenantId, userId } = subject;
  // The token's signature proves the tenant id. So the query for the user waits in the queue of that tenant, not in the queue of
  // unauthenticated calls.
  const user = await chargeTo({ tenant: String(tenantId), caller: userId }, () => store.findUser(db, tenantId, userId));
  return user?.generation === subject.generation ? user : undefined;
}
