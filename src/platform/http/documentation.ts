import type { RouteError } from '../errors.ts';

/** Facts about a route for the OpenAPI documents. `tools/openapi` derives errors of its guard, body and parameters. */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    summary?: string;
    description?: string;
    tags?: readonly string[];
  }

  interface FastifyContextConfig {
    /** Errors of the operation that `tools/openapi` cannot derive from its guard, body or parameters. */
    errors?: readonly RouteError[];
    /** True if the operation sets a session cookie. The console sends a header that a page of another site cannot send. */
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
    /** Schema of the data of an event, if the response is a stream of events (`event-streams.ts`). */
    eventSchema?: object;
    /** True if a repeated external id gets 200 with the stored entry and `Idempotent-Replayed`. */
    isIdempotent?: boolean;
    /** True if the response has `X-Webhook-Header-Brand`, the brand in the names of the headers of deliveries. */
    namesHeaderBrand?: boolean;
  }
}
