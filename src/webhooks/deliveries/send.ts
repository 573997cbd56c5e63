import type { TLSSocket } from 'node:tls';
import { Client, type Dispatcher } from 'undici';
import type { VettingOptions } from './address-guard.ts';
import { AnswerText } from './answer-text.ts';
import { errorOf, type SendError, SendFailure } from './send-error.ts';
import { vettingConnector } from './vetting-connector.ts';
import { checkWebhookUrl } from './webhook-url.ts';

/**
 * One POST of a signed event. `headers` are the headers with the signature, the timestamp and the event id. The sender adds content type
 * and user agent.
 */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Outcome of one attempt. `ok` is true if the status was 2xx. `error` is then null. */
export interface SendOutcome {
  ok: boolean;
  /** HTTP status of the response. Null: no response was received. */
  httpStatus: number | null;
  /** Milliseconds from the start of the attempt until the status of the response was read or the attempt failed. */
  durationMs: number;
  error: SendError | null;
  /** First 1,024 bytes of the body of the response, as text. Null: no response was received, or the sender does not keep this response. */
  answer: string | null;
}

export interface WebhookSender {
  /** Posts the request once. Never throws. The outcome reports every failure. */
  send(request: WebhookRequest): Promise<SendOutcome>;
  /** Ends all attempts under way with the error `aborted`, and closes all connections. Later calls of `send` also end with `aborted`. */
  close(): Promise<void>;
}

export interface WebhookSenderOptions extends VettingOptions {
  /** Time limit of an attempt in milliseconds, for look-up, connection, TLS and response together. Default: 10,000 (contract §6). */
  timeoutMs?: number;
  /** Maximum size of a response with its headers, in bytes. If a response is larger, the sender closes the connection. Default: 65,536. */
  responseCapBytes?: number;
  /**
   * True if the outcome of a failed attempt has the first bytes of the response. Default: true if private networks are not allowed. If they
   * are allowed, the default is false, because staff could read the responses of servers inside our network.
   */
  keepAnswers?: boolean | undefined;
  /**
   * True if the outcome of a successful attempt has the first bytes of the response too. Default: false, because no person reads these
   * responses.
   */
  keepAnswersOfSuccesses?: boolean | undefined;
}

const TIMEOUT_MS = 10_000;
const RESPONSE_CAP_BYTES = 65_536;
/** Headers of every attempt, in addition to the headers with the signature, the timestamp and the event id. */
export const FIXED_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Roomservice/1.0' };
/**
 * Time for which an idle connection is kept open. The time is short, because the receiver may also close an idle connection, and a POST
 * that begins at this moment fails.
 */
const IDLE_TIMEOUT_MS = 4_000;
/** Number of open connections above which the connection that has been idle for the longest time is closed. */
const MAX_KEPT_CONNECTIONS = 1_024;
/**
 * Creates the HTTP client of all webhook deliveries. The client sends only over HTTPS. It refuses a host with an address that is not
 * public, unless the options allow private networks. It checks the certificate against the host of the URL. It follows no redirects, uses
 * no proxies, and never repeats a POST. Each attempt under way has its own connection. So the caller's sending slots limit the number of
 * connections, and a hanging receiver delays no other receiver.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const {
    timeoutMs = TIMEOUT_MS,
    keepAnswers = !options.allowPrivateNetwork,
    keepAnswersOfSuccesses = false,
  } = options;
  const keepsAnswer = (error: SendError | null) => keepAnswers && (error !== null || keepAnswersOfSuccesses);
  const connections = new Connections();
  let isClosed = false;

  return {
    send({ url, headers, body }) {
      const exchange = new Exchange(timeoutMs, keepsAnswer);
      const checked = checkWebhookUrl(url, options);
      if (isClosed) {
        exchange.stop('aborted');
      } else if (!checked.ok) {
        exchange.stop('address_refused');
      } else {
        const { origin } = checked.url;
        const connection = connections.takeIdle(origin) ?? new Connection(origin, options, connections);
        exchange.start(connection, postTo(checked.url, headers, body));
      }
      return exchange.outcome;
    },
    async close() {
      isClosed = true;
      await connections.destroyAll('aborted');
    },
  };
}

function postTo(url: URL, headers: Record<string, string>, body: string): Dispatcher.DispatchOptions {
  return {
    path: url.pathname + url.search,
    method: 'POST',
    headers: { ...FIXED_HEADERS, ...headers },
    body,
  };
}

/**
 * One POST and its response, under one time limit. The outcome is the first of these results: an HTTP status, an error, or the end of the
 * time limit. So a 2xx status is a success, even if an error or the time limit then ends the reading of the body. If the body is read to
 * its end, the connection can be used again.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<SendOutcome>;
  #isOver = false;
  readonly #resolve: (outcome: SendOutcome) => void;
  readonly #startedAt = performance.now();
  readonly #deadline: NodeJS.Timeout;
  readonly #keepsAnswer: (error: SendError | null) => boolean;
  #connection: Connection | null = null;
  #decided: Omit<SendOutcome, 'answer'> | null = null;
  #answer: AnswerText | null = null;

  constructor(timeoutMs: number, keepsAnswer: (error: SendError | null) => boolean) {
    this.#keepsAnswer = keepsAnswer;
    const { promise, resolve } = Promise.withResolvers<SendOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#deadline = setTimeout(() => this.stop('timeout'), timeoutMs);
  }

  start(connection: Connection, post: Dispatcher.DispatchOptions): void {
    this.#connection = connection;
    connection.dispatch(post, this);
  }

  /** Ends the exchange and its connection. `error` becomes the outcome if no HTTP status was received before this call. */
  stop(error: SendError): void {
    if (!this.#isOver) {
      this.#decide(null, error);
      this.#end();
      void this.#connection?.destroy(error);
    }
  }

  onRequestStart(): void {} // Empty, but undici requires this method.

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) {
      const error = errorOfStatus(status);
      this.#decide(status, error);
      this.#answer = this.#keepsAnswer(error) ? new AnswerText() : null;
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#answer?.add(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    this.#connection?.keep();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.stop(errorOf(error));
  }

  #decide(httpStatus: number | null, error: SendError | null): void {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#decided ??= { ok: error === null, httpStatus, durationMs, error };
  }

  #end(): void {
    if (this.#decided === null) {
      return;
    }
    this.#isOver = true;
    clearTimeout(this.#deadline);
    this.#resolve({ ...this.#decided, answer: this.#answer?.toString() ?? null });
  }
}

/** All open connections of a sender, with a list of the idle connections. */
class Connections {
  readonly #open = new Set<Connection>();
  /** Idle connections, by origin. The connection that was used last is at the end of its list, and is taken first. */
  readonly #idleOf = new Map<string, Connection[]>();
  /** All idle connections. The connection that has been idle for the longest time comes first. */
  readonly #idle = new Set<Connection>();

  add(connection: Connection): void {
    this.#open.add(connection);
  }

  remove(connection: Connection): void {
    this.#open.delete(connection);
    this.#removeIdle(connection);
  }

  /**
   * Returns an idle connection to the origin, and removes it from the idle connections. Returns undefined if no connection to the origin is
   * idle.
   */
  takeIdle(origin: string): Connection | undefined {
    const connection = this.#idleOf.get(origin)?.at(-1);
    if (connection !== undefined) {
      this.#removeIdle(connection);
    }
    return connection;
  }

  /**
   * Keeps an open connection for the next exchange with its origin. If too many connections are open, closes the connection that has been
   * idle for the longest time.
   */
  keep(connection: Connection): void {
    if (!this.#open.has(connection)) {
      return; // The connection was closed because its response was too large.
    }
    this.#idle.add(connection);
    const toSameOrigin = this.#idleOf.get(connection.origin);
    if (toSameOrigin === undefined) {
      this.#idleOf.set(connection.origin, [connection]);
    } else {
      toSameOrigin.push(connection);
    }
    if (this.#open.size > MAX_KEPT_CONNECTIONS) {
      const [longestIdle] = this.#idle;
      void longestIdle?.destroy('aborted');
    }
  }

  isIdle(connection: Connection): boolean {
    return this.#idle.has(connection);
  }

  async destroyAll(reason: SendError): Promise<void> {
    await Promise.all(Array.from(this.#open, (connection) => connection.destroy(reason)));
  }

  #removeIdle(connection: Connection): void {
    if (this.#idle.delete(connection)) {
      const toSameOrigin = this.#idleOf.get(connection.origin) ?? [];
      toSameOrigin.splice(toSameOrigin.lastIndexOf(connection), 1);
      if (toSameOrigin.length === 0) {
        this.#idleOf.delete(connection.origin);
      }
    }
  }
}

/**
 * One connection to one origin, for one exchange at a time. The client of undici opens the connection at first use. The receiver may close
 * the connection before the client has written a byte of the next request. The client then opens the connection again. The pool of undici
 * is not used, because it can fill the memory. In version 8.12, the pool never removes an origin whose last request was aborted, and each
 * registered webhook URL may add an origin.
 */
class Connection {
  readonly origin: string;
  readonly #client: Client;
  readonly #lifetime = new AbortController();
  readonly #all: Connections;
  readonly #capBytes: number;
  #socket: TLSSocket | null = null;
  #bytesBefore = 0;

  constructor(origin: string, options: WebhookSenderOptions, all: Connections) {
    this.origin = origin;
    this.#all = all;
    all.add(this);
    this.#capBytes = options.responseCapBytes ?? RESPONSE_CAP_BYTES;
    this.#client = new Client(origin, {
      connect: vettingConnector(options, this.#lifetime.signal, (socket) => this.#capResponses(socket)),
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
      headersTimeout: 0, // Zero turns off the time limit of undici, because the deadline of the exchange covers the whole request.
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => {
      if (all.isIdle(this)) {
        void this.destroy('connection_reset');
      }
    });
  }

  dispatch(post: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#bytesBefore = this.#socket?.bytesRead ?? 0;
    this.#client.dispatch(post, handler);
  }

  /** Keeps the connection open for the next exchange with this origin. */
  keep(): void {
    this.#all.keep(this);
  }

  /** Closes the connection, even while it opens or is used. If an exchange uses the connection, the exchange fails with `reason`. */
  async destroy(reason: SendError): Promise<void> {
    this.#all.remove(this);
    const failure = new SendFailure(reason);
    const destroyed = this.#client.destroy(failure);
    this.#lifetime.abort(failure);
    await destroyed;
  }

  /**
   * Closes the connection if a response is too large. The method counts the bytes at the socket, because undici does not limit the size of
   * reason phrases, interim responses (1xx), chunk extensions and trailers.
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

function errorOfStatus(status: number): SendError | null {
  if (status < 300) {
    return null;
  }
  return status < 400 ? 'redirect' : 'http_status';
}
