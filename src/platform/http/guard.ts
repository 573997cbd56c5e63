import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteError } from '../errors.ts';
import type { Account } from '../lib/account.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** A stranger's until a guard has authenticated the caller. */
    account: Account;
  }
}

/** What the documents tell of a guard. */
export interface GuardFacts {
  /** The security schemes that the caller has to meet, all of them, by their names in the documents. */
  readonly security: readonly SecurityScheme[];
  /** What it refuses a caller with. */
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

/** Who may call a route: runs before anything of the request but its head is read, and throws 401, 403 or 429. */
export type Guard = GuardFacts & ((request: FastifyRequest, reply: FastifyReply) => Promise<void>);
