/** Reason why an attempt failed. Staff see this text. The texts are fixed, so that they reveal nothing about our network. */
export type SendError =
  | 'timeout'
  | 'address_refused'
  | 'tls_failed'
  | 'dns_failed'
  | 'connection_refused'
  | 'connection_reset'
  | 'redirect'
  | 'http_status'
  | 'aborted'
  | 'network_error'
  /** The service sent no request because of a fault of the service. For example, it could not decrypt the webhook secret. */
  | 'internal_error';

/** Error of a failed attempt. The outcome of the attempt shows `reason` in its field `error`. */
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
  // The receiver closed the connection. If the connection had been idle, the receiver may have closed it before the POST arrived.
  UND_ERR_SOCKET: 'connection_reset',
};

/** Returns the reason for an error that undici or a socket has thrown. */
export function errorOf(error: Error): SendError {
  if (error instanceof SendFailure) {
    return error.reason;
  }
  return ('code' in error && ERROR_OF_CODE[String(error.code)]) || 'network_error';
}
