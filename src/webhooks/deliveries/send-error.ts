/** Staff and partners see these texts, which reveal nothing about our network. A table in docs/guides/webhooks.md explains each. */
export const SEND_ERRORS = [
  'timeout',
  'address_refused',
  'tls_failed',
  'dns_failed',
  'connection_refused',
  'connection_reset',
  'redirect',
  'http_status',
  'unreadable_response: no status line',
  'unreadable_response: headers above 64 KiB',
  'unreadable_response: change of protocol',
  'network_error',
  /** The service stopped during the attempt. */
  'aborted',
  /** The process ended before it recorded the outcome. The store and the feed write this error. */
  'no_outcome',
  /** The service sent no request because of a fault of its own. For example, it could not decrypt the webhook secret. */
  'internal_error',
] as const;
export type SendError = (typeof SEND_ERRORS)[number];

export class SendFailure extends Error {
  readonly reason: SendError;

  constructor(reason: SendError) {
    super(reason);
    this.reason = reason;
  }
}

const ERROR_OF_CODE: Readonly<Record<string, SendError>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
};

/** @param unknown reason for an error that has no known code */
export function errorOf(error: Error, unknown: SendError = 'network_error'): SendError {
  if (error instanceof SendFailure) {
    return error.reason;
  }
  return ('code' in error && ERROR_OF_CODE[String(error.code)]) || unknown;
}
