import type { Socket } from 'node:net';
import type { App } from '#platform/http/app.ts';
import type { Listening } from '#platform/http/listen.ts';

/** Time in milliseconds for which responses under way may continue after the port has closed. */
const ANSWER_GRACE_MS = 8_000;
/** Time in milliseconds after which a connection is closed on which the client has sent nothing. Its first request may be on its way. */
const SILENT_MS = 1_000;
const POLL_MS = 100;

/** Closes an app and its connections in such an order that clients see no error. */
export class AppClosing {
  readonly #app: App;
  /** Open connections, with the time at which the app has accepted them. */
  readonly #sockets = new Map<Socket, number>();

  /** Begins to track the connections of the app. Must be called before the app listens, so that no connection is missed. */
  constructor(app: App) {
    this.#app = app;
    app.server.on('connection', (socket: Socket) => {
      this.#sockets.set(socket, performance.now());
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Lets each response from now on close its connection, so that a proxy opens its next connection to another process. */
  leaveConnections(): void {
    this.#app.server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  }

  /**
   * Closes the port and the idle connections. Streams of events end, and tell their clients to connect again. Responses under way may
   * continue for 8 s. Then all connections are closed, because a client that does not read its response must not delay the stop.
   * @param listening null if the app does not listen
   */
  async close(listening: Listening | null): Promise<void> {
    await listening?.stop();
    this.#app.eventStreams.stop();
    this.#cutIdle();
    const idle = setInterval(() => this.#cutIdle(), POLL_MS);
    const all = setTimeout(() => this.#app.server.closeAllConnections(), ANSWER_GRACE_MS);
    // `app.close()` would wait only for the connections of the first listening socket (src/platform/http/listen.ts).
    await Promise.all(
      [...this.#sockets.keys()].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    await this.#app.close();
    clearInterval(idle);
    clearTimeout(all);
  }

  #cutIdle(): void {
    this.#app.server.closeIdleConnections();
    // Node does not count a connection as idle on which the client has sent nothing.
    for (const [socket, acceptedMs] of this.#sockets) {
      if (socket.bytesRead === 0 && performance.now() - acceptedMs > SILENT_MS) {
        socket.destroy();
      }
    }
  }
}
