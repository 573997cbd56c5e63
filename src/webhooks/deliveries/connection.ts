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

  /** Returns a connection to the origin of a URL for one request: an idle one, or else a new one, which is not open yet. */
  take(url: URL): Connection {
    const idle = this.#idleOf.get(url.origin)?.at(-1);
    const connection = idle ?? new Connection(url, this.#vetting, this);
    this.#removeIdle(connection);
    this.#open.add(connection);
    return connection.begin();
  }

  remove(connection: Connection): void {
    this.#open.delete(connection);
    this.#removeIdle(connection);
  }

  /** Keeps an open connection for the next request to its origin. Returns false if too many connections are open. */
  keep(connection: Connection): boolean {
    if (this.#open.size > MAX_KEPT_CONNECTIONS) {
      return false;
    }
    const idle = this.#idleOf.get(connection.origin) ?? [];
    this.#idleOf.set(connection.origin, idle);
    idle.push(connection);
    return true;
  }

  destroyAll(reason: SendError): void {
    this.#open.forEach((connection) => connection.destroy(reason));
  }

  #removeIdle(connection: Connection): void {
    const idle = this.#idleOf.get(connection.origin) ?? [];
    const index = idle.lastIndexOf(connection);
    if (index !== -1) {
      idle.splice(index, 1);
    }
    if (idle.length === 0) {
      this.#idleOf.delete(connection.origin);
    }
  }
}

/** One connection to one origin, for one request at a time. Each request goes through `begin`, `open` and `post`, in this order. */
class Connection {
  readonly origin: string;
  readonly #url: URL;
  readonly #vetting: VettingOptions;
  readonly #lifetime = new AbortController();
  readonly #all: Connections;
  #socket: TLSSocket | null = null;
  /** End of the present request. Null: the connection is idle. */
  #ended: PromiseWithResolvers<void> | null = null;
  /** Reader of the response. Null: the request is not sent yet, or the connection is idle. */
  #reader: ResponseReader | null = null;

  constructor(url: URL, vetting: VettingOptions, all: Connections) {
    this.origin = url.origin;
    this.#url = url;
    this.#vetting = vetting;
    this.#all = all;
  }

  /** Begins a request. From now on, `destroy` ends it. */
  begin(): this {
    this.#ended = Promise.withResolvers();
    this.#ended.promise.catch(() => {}); // `open` or `post` throws the error of the request.
    return this;
  }

  /**
   * Connects to the checked address of the host, unless the connection is open.
   * @throws SendFailure if it cannot connect, or if `destroy` was called
   */
  async open(): Promise<void> {
    if (this.#socket !== null) {
      // The receiver may have closed the connection or sent bytes while it was idle. Waits until these events have been handled.
      await nextTurn();
    }
    if (this.#socket === null) {
      const opening = openVetted(this.#url, this.#vetting, this.#lifetime.signal);
      const opened = opening.then((socket) => (this.#socket = this.#watch(socket)));
      await Promise.race([opened, this.#ended?.promise]);
    }
    this.#lifetime.signal.throwIfAborted();
  }

  /**
   * Sends the request, and waits until the reader has read the response.
   * @throws SendFailure if the connection ends before
   */
  async post(request: string, reader: ResponseReader): Promise<void> {
    this.#reader = reader;
    this.#socket?.setTimeout(0).write(request);
    await this.#ended?.promise;
  }

  /** Closes the connection, even while it opens or is used. If a request is under way, it fails with `reason`. */
  destroy(reason: SendError): void {
    this.#all.remove(this);
    const failure = new SendFailure(this.#reader === null ? 'before' : 'during', reason);
    this.#ended?.reject(failure);
    this.#ended = null;
    this.#lifetime.abort(failure);
  }

  #receive(bytes: Buffer): void {
    const reader = this.#reader;
    if (reader === null) {
      return this.#drop('connection_reset'); // The receiver sends bytes although it has got no request.
    }
    try {
      reader.read(bytes);
    } catch (error) {
      return this.destroy(errorOf(error as Error));
    }
    if (reader.isEnded) {
      this.#end(reader.keepMs);
    }
  }

  /** Ends the request. Keeps the connection open for `keepMs` milliseconds, if possible. */
  #end(keepMs: number): void {
    this.#ended?.resolve();
    this.#ended = null;
    this.#reader = null;
    this.#socket?.setTimeout(keepMs);
    if (keepMs === 0 || !this.#all.keep(this)) {
      this.destroy('aborted');
    }
  }

  #watch(socket: TLSSocket): TLSSocket {
    const drop = (reason: SendError) => socket === this.#socket && this.#drop(reason);
    const close = () => drop('connection_reset');
    return socket
      .on('data', (bytes) => socket === this.#socket && this.#receive(bytes))
      .on('error', (error) => drop(errorOf(error)))
      .on('end', close)
      .on('close', close)
      .on('timeout', close);
  }

  /** Closes the socket. If the request is not sent yet, `open` opens a new socket. Otherwise the request fails with `reason`. */
  #drop(reason: SendError): void {
    if (this.#ended !== null && this.#reader === null) {
      this.#socket?.destroy();
      this.#socket = null;
    } else {
      this.destroy(reason);
    }
  }
}
