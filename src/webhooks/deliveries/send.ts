import { isIP, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { AddressRefusedError, type VettedAddress, type VettingOptions, vetHost } from './address-guard.ts';
import { checkWebhookUrl } from './webhook-url.ts';

/** One POST of a signed event. `headers` are the headers of the signature. The sender adds content type and user agent. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  signal?: AbortSignal | undefined;
}

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
  /** The service sent no request because of its own fault, for example because it could not decrypt the webhook secret. */
  | 'internal_error';

export interface SendOutcome {
  ok: boolean;
  /** HTTP status of the response. Null: no response was received. */
  httpStatus: number | null;
  /** Milliseconds from the start of the attempt until the status of the response was read or the attempt failed. */
  durationMs: number;
  error: SendError | null;
}

export interface WebhookSender {
  /** Posts the request once. Never throws, because the outcome reports every failure. */
  send(request: WebhookRequest): Promise<SendOutcome>;
  /** Ends all sends under way with the outcome `aborted`, and closes all connections. */
  close(): Promise<void>;
}

export interface WebhookSenderOptions extends VettingOptions {
  /** Time limit of an attempt, for look-up, connection, TLS and response together. Default: 10,000 (contract §6). */
  timeoutMs?: number;
  /** Maximum size of a response with its head, in bytes. If a response is larger, the connection is closed. Default: 65,536. */
  responseCapBytes?: number;
}

const TIMEOUT_MS = 10_000;
const RESPONSE_CAP_BYTES = 65_536;
const USER_AGENT = 'Roomservice/1.0';
/**
 * Time for which an idle connection is kept open. It is short, because the receiver may also close an idle connection. A POST that begins
 * at the same moment fails.
 */
const IDLE_TIMEOUT_MS = 4_000;
/** Maximum number of open connections at which idle connections are kept. Above it, a connection is closed as soon as it becomes idle. */
const MAX_KEPT_CONNECTIONS = 512;
/** Time limit for connecting to one of several addresses of a host. After it, the next address is tried. */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * Creates the HTTP client of all webhook deliveries. It sends only over HTTPS and only to addresses that `vetHost` returns, and checks the
 * certificate against the host of the URL. It follows no redirects, uses no proxies, and never repeats a POST. Each send under way has its
 * own connection. So the caller's sending slots limit the number of connections, and a hanging receiver delays no other receiver.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { timeoutMs = TIMEOUT_MS } = options;
  const connections = new Set<Connection>();
  let isClosed = false;

  const connectionTo = (origin: string): Connection => {
    for (const connection of connections) {
      if (connection.isIdle && connection.origin === origin) {
        return connection;
      }
    }
    return new Connection(origin, options, connections);
  };

  return {
    send({ url, headers, body, signal }) {
      const exchange = new Exchange(timeoutMs, signal);
      const checked = checkWebhookUrl(url, options);
      if (isClosed) {
        exchange.stop('aborted');
      } else if (!checked.ok) {
        exchange.stop('address_refused');
      } else if (!exchange.isOver) {
        exchange.start(connectionTo(checked.url.origin), postTo(checked.url, headers, body));
      }
      return exchange.outcome;
    },
    async close() {
      isClosed = true;
      await Promise.all(Array.from(connections, (connection) => connection.destroy('aborted')));
    },
  };
}

function postTo(url: URL, headers: Record<string, string>, body: string): Dispatcher.DispatchOptions {
  return {
    path: url.pathname + url.search,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...headers },
    body,
  };
}

/**
 * One POST and its response, under one deadline. The outcome depends on what comes first: a status, an error or the deadline. So a 2xx
 * status is a success even if reading the body fails later. The body is read only so that the connection can be used again.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<SendOutcome>;
  isOver = false;
  readonly #resolve: (outcome: SendOutcome) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #startedAt = performance.now();
  readonly #deadline: NodeJS.Timeout;
  #connection: Connection | null = null;
  #decided: SendOutcome | null = null;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    const { promise, resolve } = Promise.withResolvers<SendOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#signal = signal;
    this.#deadline = setTimeout(() => this.stop('timeout'), timeoutMs);
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) {
      this.stop('aborted');
    }
  }

  start(connection: Connection, post: Dispatcher.DispatchOptions): void {
    this.#connection = connection;
    connection.dispatch(post, this);
  }

  /** Ends the exchange and its connection. `error` becomes the outcome if no HTTP status was received before this call. */
  stop(error: SendError): void {
    if (!this.isOver) {
      this.#decide(null, error);
      this.#end();
      void this.#connection?.destroy(error);
    }
  }

  onRequestStart(): void {} // Empty, but undici requires this method.

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) {
      this.#decide(status, errorOfStatus(status));
    }
  }

  onResponseData(): void {} // Empty, but undici requires this method.

  onResponseEnd(): void {
    this.#end();
    this.#connection?.keep();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.stop(errorOf(error));
  }

  readonly #onAbort = (): void => this.stop('aborted');

  #decide(httpStatus: number | null, error: SendError | null): void {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#decided ??= { ok: error === null, httpStatus, durationMs, error };
  }

  #end(): void {
    if (this.#decided === null) {
      return;
    }
    this.isOver = true;
    clearTimeout(this.#deadline);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#resolve(this.#decided);
  }
}

/**
 * One connection to one origin, used by one exchange at a time. undici's client opens the connection at first use, and opens it again if
 * the receiver closed it before anything was written. undici's own pool is not used, because it can fill the memory. In version 8.12, the
 * pool never removes an origin whose last request was aborted, and each registered webhook URL may add an origin.
 */
class Connection {
  readonly origin: string;
  isIdle = false;
  readonly #client: Client;
  readonly #lifetime = new AbortController();
  readonly #all: Set<Connection>;
  readonly #capBytes: number;
  #socket: TLSSocket | null = null;
  #bytesBefore = 0;

  constructor(origin: string, options: WebhookSenderOptions, all: Set<Connection>) {
    this.origin = origin;
    this.#all = all.add(this);
    this.#capBytes = options.responseCapBytes ?? RESPONSE_CAP_BYTES;
    this.#client = new Client(origin, {
      connect: vettingConnector(options, this.#lifetime.signal, (socket) => this.#capResponses(socket)),
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
      headersTimeout: 0, // Zero turns off the time limit of undici, because the deadline of the exchange covers the whole request.
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => {
      if (this.isIdle) {
        void this.destroy('connection_reset');
      }
    });
  }

  dispatch(post: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.isIdle = false;
    this.#bytesBefore = this.#socket?.bytesRead ?? 0;
    this.#client.dispatch(post, handler);
  }

  /** Keeps the connection open for the next exchange with this origin. Closes it if more than `MAX_KEPT_CONNECTIONS` are open. */
  keep(): void {
    this.isIdle = this.#all.size <= MAX_KEPT_CONNECTIONS;
    if (!this.isIdle) {
      void this.destroy('aborted');
    }
  }

  /** Closes the connection, even while it is being opened or used. An exchange that uses the connection fails with `reason`. */
  async destroy(reason: SendError): Promise<void> {
    this.isIdle = false;
    this.#all.delete(this);
    const failure = new SendFailure(reason);
    const destroyed = this.#client.destroy(failure);
    this.#lifetime.abort(failure);
    await destroyed;
  }

  /**
   * Closes the connection if a response is too large. The bytes are counted at the socket, because undici does not limit the size of a
   * reason phrase, of interim responses (1xx), or of chunk extensions and trailers.
   */
  #capResponses(socket: TLSSocket): void {
    this.#socket = socket;
    this.#bytesBefore = socket.bytesRead;
    socket.on('readable', () => {
      if (socket.bytesRead - this.#bytesBefore > this.#capBytes) {
        void this.destroy('network_error');
      }
    });
  }
}

/**
 * Returns a connector for undici that connects only to addresses that `vetHost` returns. If no connection can be made, it fails with a
 * SendFailure. If `lifetime` is aborted, the connector closes its connection.
 */
function vettingConnector(
  vetting: VettingOptions,
  lifetime: AbortSignal,
  onOpen: (socket: TLSSocket) => void,
): buildConnector.connector {
  const open = async ({ hostname, port }: buildConnector.Options): Promise<TLSSocket> => {
    const addresses = await vetHost(hostname, vetting).catch(failLookup);
    lifetime.throwIfAborted();
    const socket = await secured(openTls(hostname, Number(port) || 443, addresses, lifetime));
    onOpen(socket);
    return socket;
  };
  return (target, settle) => {
    open(target).then(
      (socket) => settle(null, socket),
      (error: Error) => settle(error, null),
    );
  };
}

/** Opens a TLS connection to a host. Tries the checked addresses of the host one after the other, until one of them connects. */
function openTls(host: string, port: number, addresses: VettedAddress[], signal: AbortSignal): TLSSocket {
  const options: ConnectionOptions & TcpNetConnectOpts = {
    host,
    port,
    lookup: (_hostname, _options, callback) => callback(null, addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
    secureContext: trustedContext(),
    rejectUnauthorized: true, // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn off the check of certificates.
    signal,
  };
  return connectTls(options).setNoDelay(true);
}

let trusted: { certificates: readonly string[]; context: SecureContext } | null = null;

/**
 * Returns the TLS context of all connections. The context trusts the CA certificates of the process, including those of
 * NODE_EXTRA_CA_CERTS. A new context is created only if these certificates have changed, because creating it can take longer than all other
 * steps of an attempt.
 */
function trustedContext(): SecureContext {
  const certificates = getCACertificates('default');
  if (trusted?.certificates !== certificates) {
    trusted = { certificates, context: createSecureContext() };
  }
  return trusted.context;
}

/** Waits until the TLS handshake is done and the certificate is accepted. */
function secured(socket: TLSSocket): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    let isTcpConnected = false;
    socket.once('connect', () => {
      isTcpConnected = true;
    });
    socket.once('secureConnect', () => resolve(socket));
    // This listener is never removed. Without a listener, an error of an idle connection would end the process.
    socket.on('error', (error) => {
      const known = errorOf(error);
      reject(new SendFailure(known === 'network_error' && isTcpConnected ? 'tls_failed' : known));
    });
    socket.once('close', () => reject(new SendFailure('connection_reset')));
  });
}

class SendFailure extends Error {
  readonly reason: SendError;

  constructor(reason: SendError) {
    super(reason);
    this.reason = reason;
  }
}

function failLookup(error: unknown): never {
  throw new SendFailure(error instanceof AddressRefusedError ? 'address_refused' : 'dns_failed');
}

function errorOfStatus(status: number): SendError | null {
  if (status < 300) {
    return null;
  }
  return status < 400 ? 'redirect' : 'http_status';
}

const ERROR_OF_CODE: Readonly<Record<string, SendError>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
  // The receiver closed the connection. If the connection had been idle, the receiver may have closed it before the POST arrived.
  UND_ERR_SOCKET: 'connection_reset',
};

function errorOf(error: Error): SendError {
  if (error instanceof SendFailure) {
    return error.reason;
  }
  return ('code' in error && ERROR_OF_CODE[String(error.code)]) || 'network_error';
}
