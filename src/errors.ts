/**
 * The one catalogue of error codes a caller can meet (contract §7) and the HTTP status each of them has.
 * Everything the contract gives no code of its own is `error`, whose status is said where it is thrown.
 */
const STATUS_BY_CODE = {
  invalid_request: 400,
  item_not_found: 400,
  variant_not_found: 400,
  addon_not_found: 400,
  invalid_credentials: 401,
  order_not_found: 404,
  room_type_not_found: 404,
  reservation_not_found: 404,
  room_not_available: 409,
  invalid_status_transition: 409,
  rate_limited: 429,
} as const;

export type ErrorCode = keyof typeof STATUS_BY_CODE | 'error';

/** An answer in the 4xx range: `{code, message}` with its status and, where HTTP asks for some, headers. */
export class ApiError extends Error {
  readonly statusCode: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(statusCode: number, code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'ApiError';
    this.statusCode = statusCode;
    this.code = code;
    this.headers = headers;
  }
}

/** An error whose code has one status of its own. */
export function apiError(
  code: keyof typeof STATUS_BY_CODE,
  message: string,
  headers: Record<string, string> = {},
): ApiError {
  return new ApiError(STATUS_BY_CODE[code], code, message, headers);
}

/** A fault in a request's field, named by its path (decision 6). */
export function invalidField(path: string, fault: string): ApiError {
  return apiError('invalid_request', `${path}: ${fault}`);
}

/** The same answer for what does not exist and for what belongs to another tenant (decision 36). */
export function notFound(what: string): ApiError {
  return new ApiError(404, 'error', `No such ${what}.`);
}

/** The generic answer to a caller who is known but not allowed (contract §7). */
export function permissionDenied(): ApiError {
  return new ApiError(403, 'error', 'You do not have permission to perform this action.');
}

/** The service cannot answer now; the caller may try again after the given seconds. Outside the 4xx envelope. */
export class UnavailableError extends Error {
  readonly statusCode = 503;
  readonly retryAfterSeconds: number;

  constructor(message: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(message, { cause: options.cause });
    this.name = 'UnavailableError';
    this.retryAfterSeconds = options.retryAfterSeconds ?? 2;
  }
}

/** A fault of the person at the command line, not of the program: shown without a stack, exit code 1. */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
  }
}
