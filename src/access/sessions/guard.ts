import type { FastifyRequest } from 'fastify';
import type { Database } from '#platform/db/database.ts';
import { ApiError, PERMISSION_DENIED, permissionDenied, type RouteError } from '#platform/errors.ts';
import type { Guard, GuardFacts } from '#platform/http/guard.ts';
import { type Area, authenticateToken, type Feature, type Staff, type VerifyToken } from '../tenants/tenants.ts';
import { readConsoleCookie } from './console-cookie.ts';
import type { Sessions } from './sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    staff: Staff;
  }
}

type Right = 'any' | 'person' | 'owner' | { areas: readonly [Area, ...Area[]] };

type AuthenticateStaff = (request: FastifyRequest) => Promise<Staff>;

export function createStaffAuthentication(
  db: Database,
  verifyToken: VerifyToken,
  sessions: Pick<Sessions, 'authenticate' | 'noteSeen'>,
  isStream = false,
): AuthenticateStaff {
  return async (request) => {
    const { authorization } = request.headers;
    const cookie = authorization === undefined ? readConsoleCookie(request) : null;
    if (cookie !== null) {
      return await sessions.authenticate(cookie, isStream);
    }
    const { person, isSeenDue } = await authenticateToken(db, verifyToken, authorization);
    if (isSeenDue && !isStream) {
      sessions.noteSeen(person);
    }
    return person;
  };
}

export function staffGuard(authenticate: AuthenticateStaff, right: Right, feature?: Feature): Guard {
  const refusal = refusalOf(right);
  const guard = async (request: FastifyRequest) => {
    request.staff = await request.server.door.lookUp(request, () => authenticate(request));
    request.holder = String(request.staff.tenant.id);
    if (feature !== undefined && !request.staff.tenant.features.includes(feature)) {
      throw permissionDenied();
    }
    if (refusal !== null && !hasRight(request.staff, right)) {
      throw new ApiError(refusal.status, refusal.code, refusal.message);
    }
  };
  return Object.assign(guard, {
    security: ['bearer'],
    otherSecurity: ['sessionCookie', 'consoleHeader'],
    errors: [
      'invalid_credentials',
      ...(feature === undefined ? [] : [PERMISSION_DENIED]),
      ...(refusal === null ? [] : [refusal]),
    ],
  } satisfies GuardFacts);
}

function hasRight({ type, role, areas }: Staff, right: Right): boolean {
  switch (right) {
    case 'any':
      return true;
    case 'person':
      return type === 'person';
    case 'owner':
      return role === 'owner';
    default:
      return right.areas.some((area) => areas.includes(area));
  }
}

function refusalOf(right: Right): Exclude<RouteError, string> | null {
  switch (right) {
    case 'any':
      return null;
    case 'person':
      return { status: 403, code: 'error', message: 'A display cannot do this. Sign in as a person.' };
    case 'owner':
      return PERMISSION_DENIED;
    default: {
      const areas = right.areas.map((area) => `"${area}"`).join(' or ');
      return { status: 403, code: 'error', message: `You need the area ${areas}. An owner of the tenant can give it.` };
    }
  }
}
