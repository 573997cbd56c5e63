import type { RouteError } from '../errors.ts';

/**
 * Facts about a route for the OpenAPI documents, in addition to the schemas that validate its requests. The errors of its guard, its
 * body and its parameters are not among them, because `tools/openapi` derives these.
 */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    /** Action of the operation in a few words, in the imperative. */
    summary?: string;
    /** Rules and pitfalls of the operation, in Markdown. */
    description?: string;
    tags?: readonly string[];
  }

  interface FastifyContextConfig {
    /** Errors of the operation that do not follow from its guard, body or parameters. */
    errors?: readonly RouteError[];
    /** Summaries of the examples of the body, in their order. Used if the body has more than one example. */
    exampleSummaries?: readonly string[];
    /** True if the response has an `ETag`, and a request with this tag in `If-None-Match` gets 304. */
    hasEtag?: boolean;
    /** True for a long list or document, which gets 429 `rate_limited` if the caller reads too many of them slowly. */
    isStreamed?: boolean;
    /** True if a repeated external id gets 200 with the stored entry and the header `Idempotent-Replayed`. */
    isIdempotent?: boolean;
    /** True if the response has `X-Webhook-Header-Brand`, which says how deliveries name their headers. */
    namesHeaderBrand?: boolean;
  }
}
