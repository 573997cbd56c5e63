import type { Actor } from '../audit/audit.ts';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { chargeTo } from '#platform/lib/account.ts';
import { apiError } from '#platform/errors.ts';
import { type Change, tellFields } from '#platform/lib/change-list.ts';
import { normaliseEmail } from './email.ts';
import type { Feature, Role } from './schema.ts';
import * as store from './store.ts';
import type { TokenSubject, VerifyToken } from './tokens.ts';

export {
  applyUsers,
  createPasswordWork,
  ownersLost,
  type PasswordWork,
  prepareUsers,
  type UserDocument,
} from './documented-users.ts';
export { normaliseEmail } from './email.ts';
export { emailsOfOthers, hasUser, listUsers, lockUsers, setPassword } from './users.ts';
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
 * Creates the tenant or brings it to the given values; writes nothing where it has them already. Either way the tenant's row is
 * locked: of two documents applied at once, one comes whole after the other.
 * @returns its id, and what was changed
 */
export async function saveTenant(tx: Tx, tenant: Omit<Tenant, 'id'>): Promise<{ id: number; changes: Change[] }> {
  const stored = await store.lockTenantBySlug(tx, tenant.slug);
  const fields = stored === undefined ? [] : tellFields(tenantOf(stored), tenant);
  if (stored !== undefined && fields.length === 0) {
    return { id: stored.id, changes: [] };
  }
  const change = stored === undefined ? 'added' : 'changed';
  const id = await store.upsertTenant(tx, tenant);
  return { id, changes: [{ what: 'tenant', name: tenant.slug, change, fields }] };
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
  const { tenantId, userId } = subject;
  // The token is ours, so the look-up waits in its tenant's line and not in that of strangers.
  const user = await chargeTo({ tenant: String(tenantId), caller: userId }, () => store.findUser(db, tenantId, userId));
  return user?.generation === subject.generation ? user : undefined;
}
