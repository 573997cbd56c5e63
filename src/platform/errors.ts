/** The catalogue of error codes, with status, cause and remedy. */

interface ErrorEntry {
  status: number;
  title: string;
  cause: string;
  remedy: string;
  /** Example of the message. Only the code and the status are stable, not the message (contract §7). */
  example: string;
}

/** The error codes of the API that have one fixed status (contract §7). */
export const ERRORS = {
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    cause: 'The service cannot read the path, the query or the body, or one of their fields breaks a rule.',
    remedy: 'Correct the fields that the message names by their paths, and send the request again.',
    example: 'items.0.quantity: must be at least 1 | customer.phone: must have at most 20 characters',
  },
  item_not_found: {
    status: 400,
    title: 'Item not on the menu',
    cause: 'The menu currently lists no dish whose `sku` is the given `item_id`.',
    remedy: 'Read the menu again, and order only dishes that it lists.',
    example: 'items.0.item_id: no dish on the menu has the sku "STARTERS-SOUP"',
  },
  variant_not_found: {
    status: 400,
    title: 'Variant not found',
    cause: 'The dish of the item has no entry in `price_variants` with the given `variant_id`.',
    remedy:
      'Take the id from `price_variants` of the same dish. If your copy of the menu is older than a few minutes, read the menu again.',
    example: 'items.0.variant_id: the dish has no such variant',
  },
  addon_not_found: {
    status: 400,
    title: 'Add-on not found',
    cause: 'The dish of the item has no entry in `addons` with the given `addon_id`.',
    remedy:
      'Take the id from `addons` of the same dish. If your copy of the menu is older than a few minutes, read the menu again.',
    example: 'items.0.addons.0.addon_id: the dish has no such add-on',
  },
  invalid_credentials: {
    status: 401,
    title: 'Invalid credentials',
    cause:
      'The proof of identity (key and secret, token, password or signature) is missing, unknown, wrong, expired or revoked. ' +
      'The response does not say which.',
    remedy:
      'Check the headers that carry the key, the secret or the token. ' +
      'After a rotation, use the new secret. The service refuses the same call again.',
    example: 'The key, the secret or the token is not valid.',
  },
  order_not_found: {
    status: 404,
    title: 'Order not found',
    cause: 'The credential of the call has placed no order with this `external_order_id`.',
    remedy:
      'Send the same id as in the call that placed the order, and percent-encode it in the path. Use the credential of that call.',
    example: 'This credential has placed no order with this external_order_id.',
  },
  room_type_not_found: {
    status: 404,
    title: 'Room type not found',
    cause: 'The hotel has no active room type with this `room_type_id`.',
    remedy: 'Read the list of room types again, and use an id from it.',
    example:
      'The hotel has no active room type with this room_type_id. Read the list of room types, and use an id from it.',
  },
  reservation_not_found: {
    status: 404,
    title: 'Reservation not found',
    cause: 'The credential of the call has booked no reservation with this `external_reservation_id`.',
    remedy:
      'Send the same id as in the call that booked the stay, and percent-encode it in the path. Use the credential of that call.',
    example: 'This credential has booked no reservation with this external_reservation_id.',
  },
  room_not_available: {
    status: 409,
    title: 'Room not available',
    cause: 'At least one night of the stay is full or closed, or no rate plan is open for a stay of this length.',
    remedy: 'Offer other dates or another room type. The message says whether a night is full or no rate plan fits.',
    example: 'A night of the stay is full. Offer other dates or another room type.',
  },
  restaurant_closed: {
    status: 409,
    title: 'Restaurant closed',
    cause:
      'The restaurant takes no orders now, because staff have paused it or because the time is outside its opening hours. ' +
      'Orders that were placed before are not affected.',
    remedy:
      'Tell the guest that the restaurant is closed. If the response has `Retry-After`, the restaurant opens after this number of ' +
      'seconds. Without `Retry-After`, the time of the opening is not known.',
    example: 'The restaurant is closed until 2026-11-21T11:00:00.000Z.',
  },
  invalid_status_transition: {
    status: 409,
    title: 'Change not possible in this status',
    cause:
      'The order, reservation or credential has a status that does not allow the change, for example cancelled or revoked. In the staff ' +
      'API, the code also says that a value has changed since the caller read it.',
    remedy:
      'Read the current state again, and continue from there. If an order or a reservation is cancelled already, no action is needed.',
    example: 'The order is completed: it cannot become cancelled.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    cause:
      'The budget of requests for the current minute is used up. ' +
      'Or too many streams are open at the same time. The message says which.',
    remedy:
      'Wait for the number of seconds in `Retry-After`, then continue. ' +
      'Refused requests do not lengthen the wait. Close streams that you do not need.',
    example: 'The budget of 300 requests a minute is used up. Try again in 17 s.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type SpecificCode = keyof typeof ERRORS;
export type ErrorCode = SpecificCode | 'error';

/** Descriptions of the code `error`, by status. 400, 405, 408, 417 and 431 may be sent before the operation is known. */
export const GENERIC_ERRORS = {
  400: {
    title: 'Not a valid HTTP request',
    cause: 'The request is not HTTP, or does not carry exactly one `Host` header.',
    remedy: 'Use a standard HTTP client.',
  },
  403: {
    title: 'Not allowed',
    cause:
      'The service knows the caller. ' +
      'But the caller lacks the role or the area for the operation, or the tenant lacks the feature (restaurant or hotel).',
    remedy: "Ask the tenant's owner to make the call, to give you the area, or to have the feature switched on.",
  },
  404: {
    title: 'Not found',
    cause: 'No object of the tenant has this id, the list has no such page, or the path does not exist.',
    remedy: 'Check the path and the id. Read a list again from its first page.',
  },
  405: {
    title: 'Method not allowed',
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  408: {
    title: 'Request took too long',
    cause:
      'The headers did not arrive within 15 seconds, or the body did not arrive within 5 seconds of its turn (60 seconds for a menu).',
    remedy: 'Send the request again. If this happens often, check the connection.',
  },
  412: {
    title: 'Changed in the meantime',
    cause: 'The request has the header `If-Match`, and what it would change has another `ETag` by now.',
    remedy: 'Read the current state, repeat your change in it, and send it with its new `ETag`.',
  },
  413: {
    title: 'Body too large',
    cause: 'The body is larger than the operation takes. The message says how many bytes that is.',
    remedy: 'Send a smaller body.',
  },
  415: {
    title: 'Content type not supported',
    cause: 'The body has none of the three supported content types, is compressed, or has another charset than UTF-8.',
    remedy: 'Send `application/json`, `application/x-www-form-urlencoded` or `multipart/form-data`, in UTF-8.',
  },
  417: {
    title: 'Expectation not supported',
    cause: 'The header `Expect` has another value than `100-continue`.',
    remedy: 'Leave the header out.',
  },
  431: {
    title: 'Headers too large',
    cause: 'The request line and the headers together are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
  },
} as const satisfies Record<number, Omit<ErrorEntry, 'status' | 'example'>>;

export type RouteError = SpecificCode | { readonly status: number; readonly code: 'error'; readonly message: string };

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly statusCode: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(statusCode: number, code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
    this.headers = headers;
  }
}

export function apiError(code: SpecificCode, message: string, headers: Record<string, string> = {}): ApiError {
  return new ApiError(ERRORS[code].status, code, message, headers);
}

/** Handler for `.catch(…)`. Returns the refusal of a call as a value, and throws every other error again. */
export function asRefusal(error: unknown): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  throw error;
}

/** The message begins with the path of the field (rule 6). */
export function invalidField(path: string, fault: string): ApiError {
  return apiError('invalid_request', `${path}: ${fault}`);
}

/** Describes the 404 of an object that does not exist or is of another tenant, for the errors of a route (rule 36). */
export function noSuch(what: string) {
  return { status: 404, code: 'error', message: `No such ${what}.` } as const satisfies RouteError;
}

export function notFound(what: string): ApiError {
  const { status, code, message } = noSuch(what);
  return new ApiError(status, code, message);
}

/** @throws ApiError 404 (code `error`) if the value is undefined or null */
export function orNotFound<Value>(value: Value | undefined | null, what: string): Value {
  if (value === undefined || value === null) {
    throw notFound(what);
  }
  return value;
}

/** Error for a caller who is authenticated but not allowed to do the operation (contract §7). */
export const PERMISSION_DENIED = {
  status: 403,
  code: 'error',
  message: 'You do not have permission to perform this action.',
} as const satisfies RouteError;

export function permissionDenied(): ApiError {
  return new ApiError(PERMISSION_DENIED.status, PERMISSION_DENIED.code, PERMISSION_DENIED.message);
}

/** Error that becomes a 503 without a `code`. */
export class UnavailableError extends Error {
  readonly statusCode = 503;
  override readonly name = 'UnavailableError';
}

/** Mistake of the operator. A command shows the message without a stack trace, and exits with code 1. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
