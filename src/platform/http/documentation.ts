import type { RouteError } from '../errors.ts';

/**
 * What a route tells the OpenAPI documents beside the schemas that it validates with. What follows from its guard, its body
 * and its parameters is derived from them (tools/openapi), not said again.
 */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    /** What it does, in a few words and the imperative. */
    summary?: string;
    /** Its rules and pitfalls, in Markdown. */
    description?: string;
    tags?: readonly string[];
  }

  interface FastifyContextConfig {
    /** The errors of its own. */
    errors?: readonly RouteError[];
    /** What each example of its body shows, in their order; where it has more than one. */
    exampleSummaries?: readonly string[];
    /** Its answer carries an `ETag`, and 304 answers the `If-None-Match` that names it. */
    hasEtag?: boolean;
    /** A long list or document: 429 `rate_limited` while too many of them are read slowly. */
    isStreamed?: boolean;
    /** Under an external id that was used already it answers 200 with what is stored, and `Idempotent-Replayed`. */
    isIdempotent?: boolean;
    /** `X-Webhook-Header-Brand` tells how deliveries name their headers. */
    namesHeaderBrand?: boolean;
  }
}
