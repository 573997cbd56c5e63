import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { ResponseReader } from './response-reader.ts';
import { errorOf, type SendError, SendFailure } from './send-error.ts';
import { openVetted, type VettingOptions } from './vetting-connector.ts';

/** Number of open connections above which a connection is closed after its request. */
const MAX_KEPT_CONNECTIONS = 1_024;

export class Connections {
  readonly #vetting: VettingOptions;
  readonly #open = new Set<Connection>();
  /** Idle connections, by origin. The connection that was used last is at the end of its list, and is taken first. */
  readonly #idleOf = new Map<string, Connection[]>();

  constructor(vetting: VettingOptions) {
    this.#vetting = vetting;
  }

  /**
   * Returns an open connection to the origin of a URL for one request: an idle one, or else a new one to the checked address of the host.
   * @throws SendFailure if it cannot connect, or if `signal` is aborted, whose reason is then the reason of the failure
   */
  async take(url: URL, signal: AbortSignal): Promise<Connection> {
    const idle = this.#idleOf.get(url.origin)?.at(-1);
    if (idle !== undefined) {
      this.#removeIdle(idle);
      // The receiver may have closed the connection or sent bytes while it was idle. Waits until these events have been handled.
      await nextTurn();
    }
    if (idle?.isOpen === true) {
      return idle;
    }
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => aborted.reject(new SendFailure('before', signal.reason)));
    const socket = await Promise.race([openVetted(url, this.#vetting, signal), aborted.promise]);
    const connection = new Connection(url.origin, socket, (closed) => {
      this.#open.delete(closed);
      this.#removeIdle(closed);
    });
    this.#open.add(connection);
    return connection;
  }

  /** Keeps a connection open for the next request to its origin for `keepMs` milliseconds, unless too many are open. */
  keep(connection: Connection, keepMs: number): void {
    if (keepMs === 0 || this.#open.size > MAX_KEPT_CONNECTIONS) {
      connection.destroy('aborted');
      return;
    }
    connection.rest(keepMs);
    const idle = this.#idleOf.get(connection.origin) ?? [];
    this.#idleOf.set(connection.origin, idle);
    idle.push(connection);
  }

  destroyAll(): void {
    this.#open.forEach((connection) => connection.destroy('aborted'));
  }

  #removeIdle(connection: Connection): void {
    const idle = this.#idleOf.get(connection.origin)?.filter((each) => each !== connection) ?? [];
    if (idle.length === 0) {
      this.#idleOf.delete(connection.origin);
    } else {
      this.#idleOf.set(connection.origin, idle);
    }
  }
}

/** Open connection to one origin, for one request at a time. */
export class Connection {
  readonly origin: string;
  readonly #socket: TLSSocket;
  readonly #onDestroy: (connection: Connection) => void;
  /** Request under way with the reader of its response. Null: the connection is idle. */
  #request: (PromiseWithResolvers<void> & { reader: ResponseReader }) | null = null;

  constructor(origin: string, socket: TLSSocket, onDestroy: (connection: Connection) => void) {
    this.origin = origin;
    this.#onDestroy = onDestroy;
    const close = () => this.destroy('connection_reset');
    this.#socket = socket
      .on('data', (bytes) => this.#receive(bytes))
      .on('error', (error) => this.destroy(errorOf(error)))
      .on('end', close)
      .on('close', close)
      .on('timeout', close);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /**
   * Sends a request, and waits until the reader has read the response.
   * @throws SendFailure if the connection ends before
   */
  async post(request: string, reader: ResponseReader): Promise<void> {
    this.#request = { ...Promise.withResolvers<void>(), reader };
    this.#socket.setTimeout(0).write(request);
    await this.#request.promise;
  }

  /** Closes the connection if no request begins within `ms` milliseconds. */
  rest(ms: number): void {
    this.#socket.setTimeout(ms);
  }

  /** Closes the connection. If a request is under way, it fails with `reason`. */
  destroy(reason: SendError): void {
    this.#request?.reject(new SendFailure('during', reason));
    this.#request = null;
    this.#socket.destroy();
    this.#onDestroy(this);
  }

  #receive(bytes: Buffer): void {
    if (this.#request === null) {
      return this.destroy('connection_reset'); // The receiver sends bytes although it has got no request.
    }
    const { reader, resolve } = this.#request;
    try {
      reader.read(bytes);
    } catch (error) {
      return this.destroy(errorOf(error as Error));
    }
    if (reader.isEnded) {
      this.#request = null;
      resolve();
    }
  }
}
