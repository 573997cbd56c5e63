import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LookupAddress } from 'node:dns';
import type { TLSSocket } from 'node:tls';
import type { ResponseReader } from './response-reader.ts';
import { errorOf, type SendError, SendFailure } from './send-error.ts';
import { connectTo, type VettingOptions, vetHost } from './vetting-connector.ts';

const MAX_KEPT_CONNECTIONS = 1_024;

export class Connections {
  readonly #vetting: VettingOptions;
  readonly #all = new Set<Connection>();
  /** Idle connections, by origin. The connection that was used last is the last of its set, and is taken first. */
  readonly #idleOf = new Map<string, Set<Connection>>();
  #isClosed = false;

  constructor(vetting: VettingOptions) {
    this.#vetting = vetting;
  }

  /** Returns an idle connection to the origin of a URL, or else a new one that is not open yet. @throws SendFailure after `close` */
  async take(url: URL): Promise<Connection> {
    const idle = [...(this.#idleOf.get(url.origin) ?? [])].at(-1);
    if (idle !== undefined) {
      this.#removeIdle(idle);
      // The receiver may have closed the connection or sent bytes while it was idle. Waits until these events have been handled.
      await nextTurn();
    }
    if (idle !== undefined && this.#all.has(idle)) {
      return idle;
    }
    if (this.#isClosed) {
      throw new SendFailure('aborted');
    }
    const connection = new Connection(url, this.#vetting, (closed) => {
      this.#all.delete(closed);
      this.#removeIdle(closed);
    });
    this.#all.add(connection);
    return connection;
  }

  /** Keeps a connection for the next request to its origin for `keepMs` milliseconds, unless there are too many. */
  keep(connection: Connection, keepMs: number): void {
    if (keepMs === 0 || this.#all.size > MAX_KEPT_CONNECTIONS) {
      connection.destroy('aborted');
    } else if (this.#all.has(connection)) {
      connection.rest(keepMs);
      this.#idleOf.set(connection.origin, (this.#idleOf.get(connection.origin) ?? new Set()).add(connection));
    }
  }

  /** Closes all connections. Attempts under way, and later ones, fail with `aborted`. */
  close(): void {
    this.#isClosed = true;
    this.#all.forEach((connection) => connection.destroy('aborted'));
  }

  #removeIdle(connection: Connection): void {
    const idle = this.#idleOf.get(connection.origin);
    if (idle?.delete(connection) && idle.size === 0) {
      this.#idleOf.delete(connection.origin);
    }
  }
}

/** Connection to one origin, for one request at a time. */
export class Connection {
  readonly origin: string;
  readonly #url: URL;
  readonly #vetting: VettingOptions;
  readonly #onDestroy: (connection: Connection) => void;
  #isDestroyed = false;
  #socket: TLSSocket | null = null;
  /** What the attempt waits for: that the connection is open, or that the response has been read. */
  #awaited: PromiseWithResolvers<void> | null = null;
  #reader: ResponseReader | null = null;

  constructor(url: URL, vetting: VettingOptions, onDestroy: (connection: Connection) => void) {
    this.origin = url.origin;
    this.#url = url;
    this.#vetting = vetting;
    this.#onDestroy = onDestroy;
  }

  /** Connects to a checked address of the host, unless it is open. @throws SendFailure */
  async open(): Promise<void> {
    if (this.#socket !== null) {
      return;
    }
    const { promise } = (this.#awaited = Promise.withResolvers<void>());
    vetHost(this.#url.hostname, this.#vetting).then(
      (addresses) => this.#connect(addresses),
      (error) => this.#fail(error),
    );
    await promise;
  }

  /** Sends a request, and waits until the reader has read the response. @throws SendFailure if the connection ends before */
  async post(request: string, reader: ResponseReader): Promise<void> {
    const { promise } = (this.#awaited = Promise.withResolvers<void>());
    this.#reader = reader;
    this.#socket?.setTimeout(0).write(request);
    await promise;
  }

  /** Closes the connection if no request begins within `ms` milliseconds. */
  rest(ms: number): void {
    this.#socket?.setTimeout(ms);
  }

  /** Closes the connection. If an attempt waits for it, it fails with `reason`. */
  destroy(reason: SendError): void {
    this.#fail(new SendFailure(reason));
  }

  #fail(error: unknown): void {
    this.#awaited?.reject(error);
    this.#awaited = null;
    this.#isDestroyed = true;
    this.#socket?.destroy();
    this.#onDestroy(this);
  }

  #connect(addresses: LookupAddress[]): void {
    if (this.#isDestroyed) {
      return;
    }
    let unknown: SendError = 'network_error';
    const close = () => this.destroy('connection_reset');
    this.#socket = connectTo(this.#url, addresses, (bytes) => this.#receive(bytes))
      .once('connect', () => (unknown = 'tls_failed'))
      .once('secureConnect', () => {
        unknown = 'network_error';
        this.#awaited?.resolve();
      })
      .on('error', (error) => this.destroy(errorOf(error, unknown)))
      .on('end', close)
      .on('close', close)
      .on('timeout', close);
  }

  #receive(bytes: Buffer): void {
    if (this.#reader === null) {
      return this.destroy('connection_reset'); // The receiver sends bytes although it has got no request.
    }
    try {
      this.#reader.read(bytes);
    } catch (error) {
      return this.destroy(errorOf(error as Error));
    }
    if (this.#reader.isEnded) {
      this.#reader = null;
      this.#awaited?.resolve();
      this.#awaited = null;
    }
  }
}
