/** Value of `code` in a 4xx response of the service. The code is `error` if no other code describes the failure. */
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
  | 'restaurant_closed'
  | 'invalid_status_transition'
  | 'rate_limited'
  | 'error';

/**
 * Code that the SDK sets if the service has sent no code:
 * - `timeout` and `connection_failed`: no complete response arrived.
 * - `server_error`: the status was 5xx.
 * - `unexpected_answer`: the response cannot come from Roomservice, for example a redirect or the error page of a proxy.
 */
export type ClientErrorCode = 'timeout' | 'connection_failed' | 'server_error' | 'unexpected_answer';

/** Code of a failed call. A later version of the service may send new codes, so a `switch` over them needs a `default`. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {});

export interface ErrorDetails {
  code: ErrorCode;
  status?: number;
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  attempts: number;
  cause?: unknown;
}

/** Failure of a call, thrown after the last attempt. */
export class RoomserviceError extends Error {
  override readonly name = 'RoomserviceError';
  /** Reason of the failure. Your program should decide by this field, not by the message. */
  readonly code: ErrorCode;
  /** HTTP status of the last response. Null if no response arrived. */
  readonly status: number | null;
  /**
   * Id of the last request. The service logs the request under this id, so quote it when you ask for help. Null if the response carried no
   * id or did not arrive.
   */
  readonly requestId: string | null;
  /** Seconds to wait before the next call, from the header `Retry-After`. Null if the response had no valid `Retry-After`. */
  readonly retryAfterSeconds: number | null;
  /** Number of requests that the SDK sent for this call, including the last one. */
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
