import type { Operation } from './operations.ts';

const integer = { type: 'integer', minimum: 0 };
const text = { type: 'string' };

/** Headers of answers, by name (decisions 8, 11 and 22). */
export const HEADERS = {
  'X-Request-Id': {
    description:
      "The id of this call: the caller's own `X-Request-Id` where it sent a short, plain one, else a new one.",
    required: true,
    schema: text,
    example: '8f6a5b0e-3f0c-4a55-9d0d-1f9f2f6f0b6e',
  },
  'X-RateLimit-Limit': {
    description: 'Requests that the budget has in a window of 60 seconds.',
    required: true,
    schema: integer,
    example: 300,
  },
  'X-RateLimit-Remaining': {
    description: 'What is left of it in the current window.',
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
  'WWW-Authenticate': {
    description: 'The kind of credentials that is asked for: `ApiKey`, `Bearer` or `Signature`.',
    required: true,
    schema: text,
  },
  ETag: {
    description:
      'Names this very content. Send it back in `If-None-Match` and be answered 304 until something changes.',
    required: true,
    schema: text,
    example: '"hT2qYV3s0oN1b8kXcJ5wLr7uZae"',
  },
  'Idempotent-Replayed': {
    description: 'Says that an earlier call had created what is answered.',
    required: true,
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'X-Webhook-Header-Brand': {
    description:
      'The brand in the header names of a delivery: `Service` stands for `X-Service-Signature` and its siblings.',
    required: true,
    schema: text,
    example: 'Service',
  },
} as const;

/** The request header of whatever carries an `ETag`. */
export const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an answer that the caller still has.',
  schema: text,
  example: HEADERS.ETag.example,
};

const BUDGET: HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

type HeaderName = keyof typeof HEADERS;

/** The headers of an operation's answer of that status, referred to. */
export function headersOf(operation: Operation, status: string): Record<string, object> {
  // Who is not let in is not counted; where the database is lost, that may be before the count.
  const isCounted = operation.isCounted && status !== '401' && status !== '503';
  const names: HeaderName[] = [
    'X-Request-Id',
    ...(isCounted ? BUDGET : []),
    ...(OF_STATUS[status] ?? []),
    ...(operation.hasEtag && ['200', '304'].includes(status) ? (['ETag'] as const) : []),
    ...(operation.isIdempotent && status === '200' ? (['Idempotent-Replayed'] as const) : []),
    ...(operation.namesHeaderBrand && status === '200' ? (['X-Webhook-Header-Brand'] as const) : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const OF_STATUS: Record<string, HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};
