import type { FastifyReply, FastifyRequest } from 'fastify';
import { PERMISSION_DENIED, permissionDenied } from '#platform/errors.ts';
import type { Guard, GuardFacts } from '#platform/http/guard.ts';
import { type Budget, countCall } from '#platform/http/rate-limit.ts';
import type { Feature } from '../tenants/tenants.ts';
import type { Authentication, Caller } from './authentication.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Partner or PMS that makes the request. The guard of each third-party and PMS route sets this field. */
    caller: Caller;
  }
}

/**
 * Returns the guard (request hook) of the third-party API. The guard checks in this order (decision 1): the credential (401), the budget of
 * calls (429), and, if `feature` is given, that the tenant has this feature (403).
 */
export function callerGuard(authentication: Authentication, budget: Budget, feature?: Feature): Guard {
  const guard = async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers } = request;
    request.caller = await authentication.authenticate(headers['x-api-key'], headers['x-api-secret']);
    noteTenant(request);
    await countCall(budget, request.caller.credentialId, reply);
    if (feature !== undefined && !request.caller.features.includes(feature)) {
      throw permissionDenied();
    }
  };
  return Object.assign(guard, {
    security: ['apiKey', 'apiSecret'],
    errors: ['invalid_credentials', 'rate_limited', ...(feature === undefined ? [] : [PERMISSION_DENIED])],
  } satisfies GuardFacts);
}

function noteTenant(request: FastifyRequest): void {
  const { tenantId, credentialId } = request.caller;
  request.tenant = String(tenantId);
  request.account.caller = credentialId;
}

/**
 * Returns the guard (request hook) of the PMS API. It accepts only PMS credentials, and does not check the features of the tenant (decision
 * 17).
 */
export function pmsGuard(authentication: Authentication, budget: Budget): Guard {
  const guard = async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers } = request;
    request.caller = await authentication.authenticate(headers['x-pms-api-key'], headers['x-pms-api-secret']);
    noteTenant(request);
    await countCall(budget, request.caller.credentialId, reply);
  };
  return Object.assign(guard, {
    security: ['pmsApiKey', 'pmsApiSecret'],
    errors: ['invalid_credentials', 'rate_limited'],
  } satisfies GuardFacts);
}
