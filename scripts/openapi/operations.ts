import type { RouteOptions } from 'fastify';
import type { RouteError } from '#platform/errors.ts';
import type { GuardFacts, SecurityScheme } from '#platform/http/guard.ts';
import { MAX_BODY_BYTES } from '#platform/lib/bounds.ts';
import type { Schema } from './components.ts';

export interface Operation {
  method: string;
  /** Path with parameters in braces, for example `/orders/{id}/`. */
  path: string;
  id: string;
  summary: string;
  description: string;
  tags: readonly string[];
  /**
   * Sets of security schemes of the operation. A call needs all schemes of one of the sets. An empty list means that the
   * operation needs no credentials.
   */
  securities: readonly (readonly SecurityScheme[])[];
  params: Schema | null;
  query: Schema | null;
  body: Schema | null;
  /** Summaries of the examples of the body, in the order of the examples. */
  exampleSummaries: readonly string[];
  successes: Record<string, Schema>;
  errors: readonly RouteError[];
  isCounted: boolean;
  /** True if only the console may call the operation. The service refuses any other caller before it counts the call. */
  isConsoleOnly: boolean;
  /** Schema of the data of an event if the successful response is a stream of events, otherwise null. */
  event: Schema | null;
  hasEtag: boolean;
  takesIfMatch: boolean;
  csvExample: string | null;
  isIdempotent: boolean;
  namesHeaderBrand: boolean;
}

function pathOf({ url }: RouteOptions): string {
  return url.replaceAll(/:(\w+)/g, '{$1}');
}

export function operationOf(route: RouteOptions): Operation {
  const { schema = {}, config = {} } = route;
  const guard = guardOf(route);
  const query = asSchema(schema.querystring);
  const body = asSchema(schema.body);
  const event = asSchema(config.eventSchema);
  const method = String(route.method).toLowerCase();
  const specific = [...guard.errors, ...(config.errors ?? [])];
  return {
    method,
    path: pathOf(route),
    id: schema.operationId ?? '',
    summary: schema.summary ?? '',
    description: schema.description ?? '',
    tags: schema.tags ?? [],
    securities: [guard.security, guard.otherSecurity ?? []].filter((schemes) => schemes.length > 0),
    params: asSchema(schema.params),
    query,
    body,
    exampleSummaries: config.exampleSummaries ?? [],
    successes: (schema.response ?? {}) as Record<string, Schema>,
    errors: [
      ...new Set([
        ...guard.errors,
        ...requestErrors(method, query, body, route.bodyLimit),
        ...(config.errors ?? []),
        ...(event !== null ? (['rate_limited'] as const) : []),
      ]),
    ],
    isCounted: specific.includes('rate_limited') && config.isCountedLate !== true,
    isConsoleOnly: config.isConsoleOnly ?? false,
    event,
    hasEtag: config.hasEtag ?? false,
    takesIfMatch: config.takesIfMatch ?? false,
    csvExample: config.csvExample ?? null,
    isIdempotent: config.isIdempotent ?? false,
    namesHeaderBrand: config.namesHeaderBrand ?? false,
  };
}

function asSchema(schema: unknown): Schema | null {
  return typeof schema === 'object' ? schema : null;
}

const NO_GUARD: GuardFacts = { security: [], errors: [] };

function guardOf({ onRequest, preParsing }: RouteOptions): GuardFacts {
  const hooks: unknown[] = [onRequest, preParsing].flat();
  return hooks.find(isGuard) ?? NO_GUARD;
}

function isGuard(hook: unknown): hook is GuardFacts {
  return typeof hook === 'function' && 'security' in hook && 'errors' in hook;
}

const UNSUPPORTED = {
  status: 415,
  code: 'error',
  message: 'body: Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data',
} as const;
const NO_SUCH_PAGE = { status: 404, code: 'error', message: 'There is no page 7. The last page is 3.' } as const;

/**
 * Returns the errors that do not depend on the code of the route. Every operation can refuse a malformed query, even if it has no query
 * parameters. Every operation except GET can refuse a body that is too large (413). Only an operation that takes a body can refuse the
 * content type.
 */
function requestErrors(
  method: string,
  query: Schema | null,
  body: Schema | null,
  limitBytes = MAX_BODY_BYTES,
): RouteError[] {
  const tooLarge = { status: 413, code: 'error', message: `body: is larger than ${limitBytes} bytes` } as const;
  const isPaged = 'page' in (query?.properties ?? {});
  return [
    'invalid_request',
    ...(method === 'get' ? [] : [tooLarge]),
    ...(body === null ? [] : [UNSUPPORTED]),
    ...(isPaged ? [NO_SUCH_PAGE] : []),
  ];
}
