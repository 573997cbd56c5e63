import type { RouteError } from '../errors.ts';

/** Facts about a route for the OpenAPI documents. `scripts/openapi` derives errors of its guard, body and parameters. */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    summary?: string;
    description?: string;
    tags?: readonly string[];
  }

  interface FastifyContextConfig {
    errors?: readonly RouteError[];
    /** True if the operation sets a session cookie. The console sends a header that a page of another site cannot send. */
    isConsoleOnly?: boolean;
    /** True if other checks may refuse a call before it is counted. Then only some responses show the budget (rule 8). */
    isCountedLate?: boolean;
    exampleSummaries?: readonly string[];
    hasEtag?: boolean;
    takesIfMatch?: boolean;
    /** True if a body with a field that its schema does not name is refused. Other operations ignore such a field (rule 4). */
    refusesUnknownFields?: boolean;
    csvExample?: string;
    eventSchema?: object;
    /** True if a repeated external id gets 200 with the stored entry and `Idempotent-Replayed`. */
    isIdempotent?: boolean;
    /** True if the response has `X-Webhook-Header-Brand`, the brand in the names of the headers of deliveries. */
    namesHeaderBrand?: boolean;
  }
}
