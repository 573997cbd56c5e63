/** What the service answers with: `code` of a 4xx. `error` stands for whatever has no code of its own. */
export type ServiceErrorCode =
  | 'invalid_request'
  | 'item_not_found'
  | 'variant_not_found'
  | 'addon_not_found'
  | 'invalid_credentials'
  | 'order_not_found'
  | 'room_type_not_found'
  | 'reservation_not_found'
  | 'room_not_available'
  | 'invalid_status_transition'
  | 'rate_limited'
  | 'error';

/**
 * What the SDK says where the service names no code: `timeout` and `connection_failed` where no answer came,
 * `server_error` for a 5xx, `unexpected_answer` for what Roomservice would not send (a redirect, a page of a proxy).
 */
export type ClientErrorCode = 'timeout' | 'connection_failed' | 'server_error' | 'unexpected_answer';

/** A later service may know further codes, so a `switch` over them needs its `default`. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {});

export interface ErrorDetails {
  code: ErrorCode;
  status?: number;
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  attempts: number;
  cause?: unknown;
}

/** A call that did not succeed, after all its retries. */
export class RoomserviceError extends Error {
  override readonly name = 'RoomserviceError';
  /** What went wrong; the one thing to branch on. */
  readonly code: ErrorCode;
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  /** Names this call in the service's log: quote it when you ask for help. Null where no answer came. */
  readonly requestId: string | null;
  /** How long the service asked to wait before the next call; null where it did not. */
  readonly retryAfterSeconds: number | null;
  /** How many requests were sent for this call, this last one included. */
  readonly attempts: number;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.attempts = details.attempts;
  }
}
