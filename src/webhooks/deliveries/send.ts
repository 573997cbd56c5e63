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

/** One POST of a signed event. `headers` are the signature's; content type and user agent are added here. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  signal?: AbortSignal | undefined;
}

/** Why an attempt failed: short fixed texts, shown to staff, that tell nothing of the network they were seen from. */
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
  /** Nothing was sent, for a fault of ours. */
  | 'internal_error';

export interface SendOutcome {
  ok: boolean;
  /** Null where no answer came. */
  httpStatus: number | null;
  /** Until the answer's status was read, or the attempt failed. */
  durationMs: number;
  error: SendError | null;
}

export interface WebhookSender {
  /** Posts once and never throws: whatever happens is in the outcome. */
  send(request: WebhookRequest): Promise<SendOutcome>;
  /** Ends what is under way (`aborted`) and every connection. */
  close(): Promise<void>;
}

export interface WebhookSenderOptions extends VettingOptions {
  /** For look-up, connection, TLS and answer together; 10,000 by contract §6. */
  timeoutMs?: number;
  /** How much of an answer, head and body, is read before the connection is cut; 65,536. */
  responseCapBytes?: number;
}

const TIMEOUT_MS = 10_000;
const RESPONSE_CAP_BYTES = 65_536;
const USER_AGENT = 'Roomservice/1.0';
/** Short, because a receiver may close an idle connection just when it is used again, and that costs an attempt. */
const IDLE_TIMEOUT_MS = 4_000;
/** With more connections than this, those that become idle are closed. */
const MAX_KEPT_CONNECTIONS = 512;
/** How long one of several addresses may take to answer before the next is tried. */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * The client of all webhook deliveries: HTTPS to vetted addresses alone, certificates checked against the URL's host, no
 * redirects, no proxies, no second POST. Every send under way has a connection to itself, so the caller's slots bound
 * them and a hanging receiver makes no other one wait.
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
 * One POST and its answer, with one deadline over everything. The first thing that decides the outcome stands: a 2xx
 * status is a success whatever becomes of its body, which is read only so that the connection can be used again.
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

  /** Ends the exchange and its connection; `error` is the outcome where no status came before. */
  stop(error: SendError): void {
    if (!this.isOver) {
      this.#decide(null, error);
      this.#end();
      void this.#connection?.destroy(error);
    }
  }

  onRequestStart(): void {} // undici insists on having this,

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) {
      this.#decide(status, errorOfStatus(status));
    }
  }

  onResponseData(): void {} // and this.

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
 * One connection to one origin, used by one exchange at a time: undici's client, opened when first used, and once more
 * where the receiver closed it before anything was written. (undici's own pool is set aside: in 8.12 it remembers an
 * origin for good once the last request to it was aborted, and receivers choose their origins.)
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
      connect: vettingConnector(options, this.#lifetime.signal, (socket) => this.#capAnswers(socket)),
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
      headersTimeout: 0, // The exchange's deadline stands for all of them.
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

  /** Leaves the connection to the next exchange with this origin, for a while. */
  keep(): void {
    this.isIdle = this.#all.size <= MAX_KEPT_CONNECTIONS;
    if (!this.isIdle) {
      void this.destroy('aborted');
    }
  }

  /** Cuts the connection, whether it is being opened, in use or idle; `reason` goes to the exchange that has it. */
  async destroy(reason: SendError): Promise<void> {
    this.isIdle = false;
    this.#all.delete(this);
    const failure = new SendFailure(reason);
    const destroyed = this.#client.destroy(failure);
    this.#lifetime.abort(failure);
    await destroyed;
  }

  /** Counts below undici, which bounds neither a reason phrase nor interim answers nor what stands beside the chunks. */
  #capAnswers(socket: TLSSocket): void {
    this.#socket = socket;
    this.#bytesBefore = socket.bytesRead;
    socket.on('readable', () => {
      if (socket.bytesRead - this.#bytesBefore > this.#capBytes) {
        void this.destroy('network_error');
      }
    });
  }
}

/** Opens undici's connections, to vetted addresses only. They fail with a SendFailure, and end with `lifetime`. */
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

/** A host name leads to its vetted addresses alone, one after the other until one answers; an IP address to itself. */
function openTls(host: string, port: number, addresses: VettedAddress[], signal: AbortSignal): TLSSocket {
  const options: ConnectionOptions & TcpNetConnectOpts = {
    host,
    port,
    lookup: (_hostname, _options, callback) => callback(null, addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
    secureContext: trust(),
    rejectUnauthorized: true, // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    signal,
  };
  return connectTls(options).setNoDelay(true);
}

let trusted: { certificates: readonly string[]; context: SecureContext } | null = null;

/**
 * What all connections trust: the process's certificates, NODE_EXTRA_CA_CERTS among them. It is made once, and anew where they have
 * changed, for to make one takes longer than everything else in an attempt that is refused.
 */
function trust(): SecureContext {
  const certificates = getCACertificates('default');
  if (trusted?.certificates !== certificates) {
    trusted = { certificates, context: createSecureContext() };
  }
  return trusted.context;
}

/** Waits until the TLS handshake is done and the certificate accepted. */
function secured(socket: TLSSocket): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    let isTcpConnected = false;
    socket.once('connect', () => {
      isTcpConnected = true;
    });
    socket.once('secureConnect', () => resolve(socket));
    // This listener stays: without one, an error of a kept connection would end the process.
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
  UND_ERR_SOCKET: 'connection_reset', // Closed by the other side, a kept connection perhaps before it saw the POST.
};

function errorOf(error: Error): SendError {
  if (error instanceof SendFailure) {
    return error.reason;
  }
  return ('code' in error && ERROR_OF_CODE[String(error.code)]) || 'network_error';
}
