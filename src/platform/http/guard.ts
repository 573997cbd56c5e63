import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteError } from '../errors.ts';
import type { Account } from '../lib/account.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Account that the work of the request is charged to. Until a guard has authenticated the caller, its tenant is `STRANGERS`. */
    account: Account;
  }
}

/** Facts about a guard for the OpenAPI documents. */
export interface GuardFacts {
  /** Names of the security schemes in the documents. The caller must meet all of them. */
  readonly security: readonly SecurityScheme[];
  /** Errors with which the guard refuses a caller. */
  readonly errors: readonly RouteError[];
}

export type SecurityScheme =
  | 'apiKey'
  | 'apiSecret'
  | 'pmsApiKey'
  | 'pmsApiSecret'
  | 'bearer'
  | 'channelKey'
  | 'channelTimestamp'
  | 'channelSignature';

/** Checks that the caller may call a route. Runs before any part of the body is read, and throws ApiError 401, 403 or 429. */
export type Guard = GuardFacts & ((request: FastifyRequest, reply: FastifyReply) => Promise<void>);
