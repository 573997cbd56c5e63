import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteError } from '../errors.ts';
import type { Account } from '../lib/account.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Tenant and caller for which the request counts against limits. Until a guard has authenticated the caller, the tenant is `STRANGERS`.
     */
    account: Account;
    /** Id of the tenant of the caller. Null until a guard has authenticated the caller. */
    tenant: string | null;
  }

  interface FastifyContextConfig {
    /** Kind of place that a request of this route takes. `document`: its body may be larger than others, and few are read at a time. */
    place?: 'document';
  }
}

/** Properties of a guard that the OpenAPI documents show. */
export interface GuardFacts {
  /** Names of the security schemes in the OpenAPI documents. The caller must satisfy all of them. */
  readonly security: readonly SecurityScheme[];
  /** Second set of security schemes. The caller may satisfy all of them instead of all schemes in `security`. */
  readonly otherSecurity?: readonly SecurityScheme[];
  /** Errors with which the guard can refuse a request. */
  readonly errors: readonly RouteError[];
}

export type SecurityScheme =
  | 'apiKey'
  | 'apiSecret'
  | 'pmsApiKey'
  | 'pmsApiSecret'
  | 'bearer'
  | 'sessionCookie'
  | 'consoleHeader'
  | 'channelKey'
  | 'channelTimestamp'
  | 'channelSignature';

/** Checks that the caller may call a route. Runs before any part of the body is read, and throws ApiError 401, 403 or 429. */
export type Guard = GuardFacts & ((request: FastifyRequest, reply: FastifyReply) => Promise<void>);
