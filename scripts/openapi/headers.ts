import { CONSOLE_HEADER } from '#access/sessions/console-cookie.ts';
import type { Operation } from './operations.ts';

const integer = { type: 'integer', minimum: 0 };
const text = { type: 'string' };

/**
 * Response headers, keyed by name (rules 8, 11, 22 and 40). The key `Retry-After-Opening` is for the header `Retry-After` of a response
 * that says that the restaurant is closed.
 */
export const HEADERS = {
  'X-Request-Id': {
    description:
      "Id of this call. It is the caller's own `X-Request-Id` if that is short and plain, and otherwise a new id.",
    required: true,
    schema: text,
    example: '8f6a5b0e-3f0c-4a55-9d0d-1f9f2f6f0b6e',
  },
  'X-RateLimit-Limit': {
    description: 'Number of calls that the budget allows in a window of 60 seconds.',
    required: true,
    schema: integer,
    example: 300,
  },
  'X-RateLimit-Remaining': {
    description: 'Number of calls that are left in the current window.',
    required: true,
    schema: integer,
    example: 287,
  },
  'X-RateLimit-Reset': {
    description: 'Whole seconds until the window ends and the budget is full again.',
    required: true,
    schema: integer,
    example: 42,
  },
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: integer,
    example: 17,
  },
  'Retry-After-Opening': {
    description: 'Seconds until the restaurant opens. Missing if the time of the opening is not known.',
    required: false,
    schema: integer,
    example: 5400,
  },
  'WWW-Authenticate': {
    description: 'Kind of credentials that the operation needs: `ApiKey`, `Bearer` or `Signature`.',
    required: true,
    schema: text,
  },
  ETag: {
    description:
      'Version of the content. If you send it back in `If-None-Match`, the response is 304 until the content changes.',
    required: true,
    schema: text,
    example: '"hT2qYV3s0oN1b8kXcJ5wLr7uZae"',
  },
  'Idempotent-Replayed': {
    description: 'Present if an earlier call created what the response shows.',
    required: true,
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'X-Webhook-Header-Brand': {
    description:
      'Brand in the header names of a delivery. With the brand `Service`, a delivery has for example the header `X-Service-Signature`.',
    required: true,
    schema: text,
    example: 'Service',
  },
} as const;

export const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier response that the caller has stored.',
  schema: text,
  example: HEADERS.ETag.example,
};

export const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the state that the caller has read, a list of such tags, or an asterisk for any state.',
  schema: text,
  example: HEADERS.ETag.example,
};

export const CONSOLE_HEADER_PARAMETER = {
  name: CONSOLE_HEADER,
  in: 'header',
  required: true,
  description: 'Proves that no other site has caused the call, because another site cannot send this header.',
  schema: { type: 'string', enum: ['1'] },
  example: '1',
};

const BUDGET: HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

type HeaderName = keyof typeof HEADERS;

export function headersOf(operation: Operation, status: string): Record<string, object> {
  // The headers `X-RateLimit-…` tell the caller the state of its budget of calls. The documents show these headers for a status only if
  // every call with this status counts towards the budget. Calls with the following statuses are not always counted:
  // - 401, because a call that fails authentication is not counted
  // - 503, because an unavailable database may make the service respond before it counts the call
  // - 400 of an operation that only the console may call, because the service refuses other callers with 400 before it counts their calls
  const isCounted =
    operation.isCounted && !['401', '503', ...(operation.isConsoleOnly ? ['400'] : [])].includes(status);
  const names: HeaderName[] = [
    'X-Request-Id',
    ...(isCounted ? BUDGET : []),
    ...(OF_STATUS[status] ?? []),
    ...(operation.hasEtag && ['200', '304'].includes(status) ? (['ETag'] as const) : []),
    ...(operation.isIdempotent && status === '200' ? (['Idempotent-Replayed'] as const) : []),
    ...(operation.namesHeaderBrand && status === '200' ? (['X-Webhook-Header-Brand'] as const) : []),
  ];
  const isOfClosing = status === '409' && operation.errors.includes('restaurant_closed');
  return Object.fromEntries([
    ...names.map((name) => [name, reference(name)]),
    ...(isOfClosing ? [['Retry-After', reference('Retry-After-Opening')]] : []),
  ]);
}

function reference(name: HeaderName): object {
  return { $ref: `#/components/headers/${name}` };
}

const OF_STATUS: Record<string, HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};
