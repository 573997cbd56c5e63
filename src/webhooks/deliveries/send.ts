import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { VettingOptions } from './address-guard.ts';
import { AnswerText } from './answer-text.ts';
import { ResponseReader } from './response-reader.ts';
import { errorOf, type SendError, SendFailure } from './send-error.ts';
import { openVetted } from './vetting-connector.ts';
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
        const connection = connections.takeIdle(origin) ?? new Connection(checked.url, options, connections);
        exchange.start(connection, postTo(checked.url, headers, body));
      }
      return exchange.outcome;
    },
    async close() {
      isClosed = true;
      connections.destroyAll('aborted');
    },
  };
}

/** Returns the bytes of a POST request in HTTP/1.1, as text. */
function postTo(url: URL, headers: Record<string, string>, body: string): string {
  const all = {
    host: url.host,
    connection: 'keep-alive',
    ...FIXED_HEADERS,
    ...headers,
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/**
 * One POST and its response, under one time limit. The outcome is the first of these results: an HTTP status, an error, or the end of the
 * time limit. So a 2xx status is a success, even if an error or the time limit then ends the reading of the body. If the body is read to
 * its end, the connection can be used again.
 */
class Exchange {
  readonly outcome: Promise<SendOutcome>;
  readonly #reader = new ResponseReader(
    { onStatus: (status) => this.#noteStatus(status), onBody: (part) => this.#answer?.add(part) },
    IDLE_TIMEOUT_MS,
  );
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

  start(connection: Connection, post: string): void {
    this.#connection = connection;
    void connection.send(post, this);
  }

  /** Ends the exchange and its connection. `error` becomes the outcome if no HTTP status was received before this call. */
  stop(error: SendError): void {
    if (!this.#isOver) {
      this.#decide(null, error);
      this.#end();
      this.#connection?.destroy(error);
    }
  }

  /** Reads bytes of the response. */
  receive(bytes: Buffer): void {
    try {
      this.#reader.read(bytes);
    } catch (error) {
      this.stop(errorOf(error as Error));
      return;
    }
    if (this.#reader.isEnded) {
      this.#end();
      this.#connection?.keep(this.#reader.keepMs);
    }
  }

  #noteStatus(status: number): void {
    const error = errorOfStatus(status);
    this.#decide(status, error);
    this.#answer = this.#keepsAnswer(error) ? new AnswerText() : null;
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
    this.#idle.add(connection);
    const toSameOrigin = this.#idleOf.get(connection.origin);
    if (toSameOrigin === undefined) {
      this.#idleOf.set(connection.origin, [connection]);
    } else {
      toSameOrigin.push(connection);
    }
    if (this.#open.size > MAX_KEPT_CONNECTIONS) {
      const [longestIdle] = this.#idle;
      longestIdle?.destroy('aborted');
    }
  }

  destroyAll(reason: SendError): void {
    for (const connection of this.#open) {
      connection.destroy(reason);
    }
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

/** One connection to one origin, for one exchange at a time. It is opened at its first use. */
class Connection {
  readonly origin: string;
  readonly #url: URL;
  readonly #vetting: VettingOptions;
  readonly #lifetime = new AbortController();
  readonly #all: Connections;
  #socket: TLSSocket | null = null;
  /** Exchange that uses the connection. Null if the connection is idle. */
  #exchange: Exchange | null = null;
  /** True after the request of the exchange was written. */
  #isSent = false;

  constructor(url: URL, vetting: VettingOptions, all: Connections) {
    this.origin = url.origin;
    this.#url = url;
    this.#vetting = vetting;
    this.#all = all;
    all.add(this);
  }

  /** Sends a request, and passes the bytes of the response to the exchange. */
  async send(request: string, exchange: Exchange): Promise<void> {
    this.#exchange = exchange;
    try {
      if (this.#socket !== null) {
        // The receiver may have closed the connection or sent bytes while it was idle. Waits until these events have been handled.
        await nextTurn();
      }
      this.#socket ??= this.#watch(await openVetted(this.#url, this.#vetting, this.#lifetime.signal));
      if (!this.#lifetime.signal.aborted) {
        this.#isSent = true;
        this.#socket.setTimeout(0).write(request);
      }
    } catch (error) {
      exchange.stop(errorOf(error as Error));
    }
  }

  /** Ends the exchange. Keeps the connection open for the next exchange, unless `keepMs`, its longest idle time in milliseconds, is zero. */
  keep(keepMs: number): void {
    this.#exchange = null;
    this.#isSent = false;
    if (keepMs === 0) {
      this.destroy('aborted');
    } else {
      this.#socket?.setTimeout(keepMs);
      this.#all.keep(this);
    }
  }

  /** Closes the connection, even while it opens or is used. If an exchange uses the connection, the exchange fails with `reason`. */
  destroy(reason: SendError): void {
    this.#all.remove(this);
    this.#exchange?.stop(reason);
    this.#exchange = null;
    this.#lifetime.abort(new SendFailure(reason));
  }

  #watch(socket: TLSSocket): TLSSocket {
    const close = () => this.#drop(socket, 'connection_reset');
    return socket
      .on('data', (bytes) => (this.#isSent ? this.#exchange?.receive(bytes) : close()))
      .on('error', (error) => this.#drop(socket, errorOf(error)))
      .on('end', close)
      .on('close', close)
      .on('timeout', close);
  }

  /** Closes the socket. If the exchange has not sent its request yet, it opens a new socket. Otherwise it fails with `reason`. */
  #drop(socket: TLSSocket, reason: SendError): void {
    if (this.#socket !== socket) {
      return;
    }
    if (this.#exchange !== null && !this.#isSent) {
      this.#socket = null;
      socket.destroy();
    } else {
      this.destroy(reason);
    }
  }
}

function errorOfStatus(status: number): SendError | null {
  if (status < 300) {
    return null;
  }
  return status < 400 ? 'redirect' : 'http_status';
}
