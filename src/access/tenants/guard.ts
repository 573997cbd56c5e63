import type { FastifyRequest } from 'fastify';
import type { Database } from '#platform/db/database.ts';
import { PERMISSION_DENIED, permissionDenied } from '#platform/errors.ts';
import type { Guard, GuardFacts } from '#platform/http/guard.ts';
import type { Account } from '#platform/lib/account.ts';
import { authenticatePerson, type Feature, type Person } from './tenants.ts';
import type { VerifyToken } from './tokens.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** User who makes the request. The guard of each owner and staff route sets this field. */
    person: Person;
  }
}

function accountOf({ tenant, userId }: Person): Account {
  return { tenant: String(tenant.id), caller: userId };
}

/**
 * Returns a guard that accepts only signed-in owners and staff. Other calls get 401. If `feature` is given, users of a tenant without this
 * feature get 403.
 */
export function personGuard(db: Database, verifyToken: VerifyToken, feature?: Feature): Guard {
  const guard = async (request: FastifyRequest) => {
    request.person = await authenticatePerson(db, verifyToken, request.headers.authorization);
    Object.assign(request.account, accountOf(request.person));
    if (feature !== undefined && !request.person.tenant.features.includes(feature)) {
      throw permissionDenied();
    }
  };
  return Object.assign(guard, {
    security: ['bearer'],
    errors: ['invalid_credentials', ...(feature === undefined ? [] : [PERMISSION_DENIED])],
  } satisfies GuardFacts);
}

/** Returns a guard that accepts only a signed-in owner. Staff get 403 (decision 12), and calls without a valid token get 401. */
export function ownerGuard(db: Database, verifyToken: VerifyToken): Guard {
  const guard = async (request: FastifyRequest) => {
    request.person = await authenticatePerson(db, verifyToken, request.headers.authorization);
    Object.assign(request.account, accountOf(request.person));
    if (request.person.role !== 'owner') {
      throw permissionDenied();
    }
  };
  return Object.assign(guard, {
    security: ['bearer'],
    errors: ['invalid_credentials', PERMISSION_DENIED],
  } satisfies GuardFacts);
}
