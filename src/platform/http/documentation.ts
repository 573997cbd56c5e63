import type { RouteError } from '../errors.ts';

/**
 * Facts about a route that the OpenAPI documents show, in addition to the schemas that validate its requests. The errors of its guard, its
 * body and its parameters are not among them, because `tools/openapi` derives these errors from the route.
 */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    /** Action of the operation in a few words. It begins with a verb in the imperative. */
    summary?: string;
    /** Rules and pitfalls of the operation, in Markdown. */
    description?: string;
    tags?: readonly string[];
  }

  interface FastifyContextConfig {
    /** Errors of the operation that `tools/openapi` cannot derive from its guard, body or parameters. */
    errors?: readonly RouteError[];
    /** Summaries of the examples of the request body, in the order of the examples. Used only if the body has more than one example. */
    exampleSummaries?: readonly string[];
    /** True if the response has an `ETag`, and a request with this tag in `If-None-Match` gets 304. */
    hasEtag?: boolean;
    /**
     * True if the response is a long list or document that is streamed. It gets 429 `rate_limited` if the caller already reads too many
     * such responses slowly.
     */
    isStreamed?: boolean;
    /** True if a request that repeats an external id gets 200, the stored entry, and the header `Idempotent-Replayed`. */
    isIdempotent?: boolean;
    /**
     * True if the response has the header `X-Webhook-Header-Brand`. Its value is part of the names of the headers that webhook deliveries
     * have.
     */
    namesHeaderBrand?: boolean;
  }
}
