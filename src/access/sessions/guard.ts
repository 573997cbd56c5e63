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
  const { has, refusal } = rightOf(right);
  const guard = async (request: FastifyRequest) => {
    request.staff = await request.server.door.lookUp(request, () => authenticate(request));
    request.holder = String(request.staff.tenant.id);
    if (feature !== undefined && !request.staff.tenant.features.includes(feature)) {
      throw permissionDenied();
    }
    if (refusal !== null && !has(request.staff)) {
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

/** Returns who has the right, and the error for everybody else. */
function rightOf(right: Right): { has: (staff: Staff) => boolean; refusal: Exclude<RouteError, string> | null } {
  switch (right) {
    case 'any':
      return { has: () => true, refusal: null };
    case 'person':
      return {
        has: ({ type }) => type === 'person',
        refusal: forbidden('A display cannot do this. Sign in as a person.'),
      };
    case 'owner':
      return { has: ({ role }) => role === 'owner', refusal: PERMISSION_DENIED };
    default: {
      const areas = right.areas.map((area) => `"${area}"`).join(' or ');
      return {
        has: (staff) => right.areas.some((area) => staff.areas.includes(area)),
        refusal: forbidden(`You need the area ${areas}. An owner of the tenant can give it.`),
      };
    }
  }
}

function forbidden(message: string) {
  return { status: 403, code: 'error', message } as const;
}
