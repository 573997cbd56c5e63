/** What a caller is told of an error code, in the documents and the guides. */
interface ErrorEntry {
  status: number;
  title: string;
  /** When it is answered. */
  cause: string;
  /** What the caller does about it. */
  remedy: string;
  /** A message as it may read; only code and status are stable (contract §7). */
  example: string;
}

/**
 * The one catalogue of error codes a caller can meet (contract §7). Everything the contract gives no code of its own is
 * `error`: its status is said where it is thrown, its causes are in `GENERIC_ERRORS`.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    cause: 'The path, the query or the body cannot be read, or a field of it breaks a rule.',
    remedy: 'Correct the fields that the message names, each by its path, and send the request again.',
    example: 'items.0.quantity: must be at least 1 | customer.phone: must have at most 20 characters',
  },
  item_not_found: {
    status: 400,
    title: 'Item not on the menu',
    cause: 'An `item_id` is the `sku` of no dish that the menu lists now.',
    remedy: 'Read the menu again, and order what it lists.',
    example: 'items.0.item_id: no dish on the menu has the sku "STARTERS-SOUP"',
  },
  variant_not_found: {
    status: 400,
    title: 'Variant not found',
    cause: 'A `variant_id` is none of the `price_variants` of the dish that its item names.',
    remedy:
      'Take the id from `price_variants` of that very dish; read the menu again if it is older than a few minutes.',
    example: 'items.0.variant_id: the dish has no such variant',
  },
  addon_not_found: {
    status: 400,
    title: 'Add-on not found',
    cause: 'An `addon_id` is none of the `addons` of the dish that its item names.',
    remedy: 'Take the id from `addons` of that very dish; read the menu again if it is older than a few minutes.',
    example: 'items.0.addons.0.addon_id: the dish has no such add-on',
  },
  invalid_credentials: {
    status: 401,
    title: 'Invalid credentials',
    cause: 'What proves who calls is missing, unknown, wrong, expired or revoked; the answer does not say which.',
    remedy:
      'Check the headers that carry it. After a rotation use the new secret. The same call again is refused again.',
    example: 'The key, the secret or the token is not valid.',
  },
  order_not_found: {
    status: 404,
    title: 'Order not found',
    cause: 'The credential that calls has placed no order with this `external_order_id`.',
    remedy: 'Send the id exactly as it was sent when the order was placed, percent-encoded, with the same credential.',
    example: 'This credential has placed no order with this external_order_id.',
  },
  room_type_not_found: {
    status: 404,
    title: 'Room type not found',
    cause: 'The hotel has no active room type with this `room_type_id`.',
    remedy: 'Read the list of room types again, and use an id from it.',
    example: 'There is no such room type.',
  },
  reservation_not_found: {
    status: 404,
    title: 'Reservation not found',
    cause: 'The credential that calls has booked no reservation with this `external_reservation_id`.',
    remedy: 'Send the id exactly as it was sent when the stay was booked, percent-encoded, with the same credential.',
    example: 'This credential has booked no reservation with this external_reservation_id.',
  },
  room_not_available: {
    status: 409,
    title: 'Room not available',
    cause: 'At least one of the nights is full or closed, or no rate plan is open for a stay of this length.',
    remedy: 'Ask for the availability, and offer other dates or another room type.',
    example: 'This room type is not available for these dates.',
  },
  invalid_status_transition: {
    status: 409,
    title: 'Status does not allow it',
    cause:
      'What should change has come to a status from which this change is not possible, such as cancelled or completed.',
    remedy: 'Read it again and go on from the status it has. Where it is cancelled already, nothing is left to do.',
    example: 'The order is completed: it cannot become cancelled.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    cause:
      'The budget of requests of the current minute is used up, or too many large bodies or lists that are read slowly are under way at once; the message says which.',
    remedy:
      'Wait as many seconds as `Retry-After` says, then go on. Refused requests do not lengthen the wait. Read lists to their ends, or in pages.',
    example: 'The budget of 300 requests a minute is used up. Try again in 17 s.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** A code that has one status of its own. */
export type SpecificCode = keyof typeof ERRORS;
export type ErrorCode = SpecificCode | 'error';

/** What the code `error` means, by status. 400, 405, 408, 417 and 431 come before it is clear which operation is called. */
export const GENERIC_ERRORS = {
  400: {
    title: 'Not a valid HTTP request',
    cause: 'The request is not HTTP, or does not carry exactly one `Host` header.',
    remedy: 'Use an HTTP client as it comes.',
  },
  403: {
    title: 'Not allowed',
    cause:
      'The caller is known, but lacks the role, or the tenant lacks the feature (restaurant or hotel) that this asks for.',
    remedy: "Ask the tenant's owner: the feature has to be switched on for them, or the call is the owner's to make.",
  },
  404: {
    title: 'Not found',
    cause: 'Nothing has this id (or it is of another tenant), the list has no such page, or the path does not exist.',
    remedy: 'Check the path and the id; begin a list again from its first page.',
  },
  405: {
    title: 'Method not allowed',
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods that the header `Allow` names.',
  },
  408: {
    title: 'Request took too long',
    cause: 'The request did not arrive whole in time: 15 seconds for its headers, 30 for all of it.',
    remedy: 'Send it again; look at the connection if it happens often.',
  },
  413: {
    title: 'Body too large',
    cause: 'The body is larger than 1 MiB.',
    remedy: 'Send less at once.',
  },
  415: {
    title: 'Content type not supported',
    cause: 'The body is none of the three content types, is compressed, or is in another charset than UTF-8.',
    remedy: 'Send `application/json`, `application/x-www-form-urlencoded` or `multipart/form-data`, in UTF-8.',
  },
  417: {
    title: 'Expectation not supported',
    cause: 'The header `Expect` says something else than `100-continue`.',
    remedy: 'Leave the header out.',
  },
  431: {
    title: 'Headers too large',
    cause: 'The request line and the headers are larger than 16 KiB together.',
    remedy: 'Send fewer or shorter headers.',
  },
} as const satisfies Record<number, Omit<ErrorEntry, 'status' | 'example'>>;

/** An error that a route can answer, as it names it for the documents: a code of the catalogue, or the generic one. */
export type RouteError = SpecificCode | { readonly status: number; readonly code: 'error'; readonly message: string };

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
export function apiError(code: SpecificCode, message: string, headers: Record<string, string> = {}): ApiError {
  return new ApiError(ERRORS[code].status, code, message, headers);
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
export const PERMISSION_DENIED = {
  status: 403,
  code: 'error',
  message: 'You do not have permission to perform this action.',
} as const satisfies RouteError;

export function permissionDenied(): ApiError {
  return new ApiError(PERMISSION_DENIED.status, PERMISSION_DENIED.code, PERMISSION_DENIED.message);
}

/** The service cannot answer now; the caller may try again after the given seconds. Outside the 4xx envelope. */
export class UnavailableError extends Error {
  readonly statusCode = 503;
  readonly retryAfterSeconds: number;
  /** Whether the log tells of the cause already, once for all who meet it. */
  readonly isLogged: boolean;

  constructor(message: string, options: { cause?: unknown; retryAfterSeconds?: number; isLogged?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.name = 'UnavailableError';
    this.retryAfterSeconds = options.retryAfterSeconds ?? 2;
    this.isLogged = options.isLogged ?? false;
  }
}

/** Whether a line of one's own about the error would only repeat what the log tells already. */
export function isLogged(error: unknown): boolean {
  return error instanceof UnavailableError && error.isLogged;
}

/** A fault of the person at the command line, not of the program: shown without a stack, exit code 1. */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
  }
}
