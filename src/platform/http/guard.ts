import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteError } from '../errors.ts';

export interface GuardFacts {
  readonly security: readonly SecurityScheme[];
  /** Second set of security schemes. The caller may satisfy all of them instead of all schemes in `security`. */
  readonly otherSecurity?: readonly SecurityScheme[];
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
