import type { RouteError } from '../errors.ts';

/**
 * Facts about a route that the OpenAPI documents show in addition to its schemas. Errors of the guard, the body and the parameters of a
 * route are not declared here, because `tools/openapi` derives them from the route.
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
    /**
     * True if the operation sets a session cookie. Only the console may call such an operation. Otherwise a malicious site could call it in
     * the browser of a visitor, and sign the visitor in to an account of the attacker. The console sends the header
     * `X-Roomservice-Console: 1`, which a page of another site cannot send. A call without this header is refused with 400, before it is
     * counted against the limit on calls from its network address.
     */
    isConsoleOnly?: boolean;
    /** Summaries of the examples of the request body, in the order of the examples. Used only if the body has more than one example. */
    exampleSummaries?: readonly string[];
    /** True if the response has an `ETag`, and a request with this tag in `If-None-Match` gets 304. */
    hasEtag?: boolean;
    /** True if the operation checks the header `If-Match`. A request whose tag is not the current tag then gets 412. */
    takesIfMatch?: boolean;
    /** True if a body with a field that its schema does not name is refused. Other operations ignore such a field (decision 4). */
    refusesUnknownFields?: boolean;
    /** Example of a response as CSV, for an operation that can respond with CSV too. */
    csvExample?: string;
    /**
     * Schema of the data of an event, if the response is a stream of events (`event-streams.ts`). A request gets 429 `rate_limited` if its
     * caller, its tenant or the process has too many streams of events.
     */
    eventSchema?: object;
    /**
     * True if the operation is idempotent. A request that repeats an external id then gets 200 with the stored entry and the header
     * `Idempotent-Replayed`.
     */
    isIdempotent?: boolean;
    /**
     * True if the response has the header `X-Webhook-Header-Brand`. Its value is the brand of the service, for example `Acme`. The names of
     * the headers of webhook deliveries contain this brand.
     */
    namesHeaderBrand?: boolean;
  }
}
