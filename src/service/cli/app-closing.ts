import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '#platform/http/app.ts';
import type { Listening } from '#platform/http/listen.ts';
import type { Readiness } from './readiness.ts';

/**
 * Time in milliseconds for which responses under way may continue after the proxies know of the stop. After this time, all connections are
 * closed.
 */
const ANSWER_GRACE_MS = 8_000;
const POLL_MS = 100;

/** Closes an app and its connections in such an order that clients see no error. */
export class AppClosing {
  readonly #app: App;
  readonly #sockets = new Set<Socket>();

  /** Begins to track the connections of the app. Must be called before the app listens, so that no connection is missed. */
  constructor(app: App) {
    this.#app = app;
    app.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /**
   * Closes the app in these steps.
   * 1. The app accepts no new connection. Streams of events end, and tell their clients when to connect to another process. Open
   * connections stay open, because a proxy may have just sent a request on one of them. But the next response on a connection has the
   * header `connection: close`, and then the connection is closed.
   * 2. When the proxies know that the process stops, idle connections are closed.
   * 3. Responses under way may continue for 8 s. Then all connections that are still open are closed, because a client that does not read
   * its response must not delay the stop.
   * @param listening null if the app does not listen
   */
  async close(readiness: Readiness, listening: Listening | null): Promise<void> {
    const { server } = this.#app;
    server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
    listening?.stop();
    this.#app.eventStreams.stop();
    while (this.#sockets.size > 0 && !readiness.isKnownToStop()) {
      await sleep(POLL_MS);
    }
    const idle = setInterval(() => this.#cutIdle(), POLL_MS);
    const all = setTimeout(() => server.closeAllConnections(), ANSWER_GRACE_MS);
    // `#sockets` contains all open connections of the app. The app may have several listening sockets on the same port
    // (src/platform/http/listen.ts). `app.close()` waits only for the connections of the first listening socket. So this line waits until
    // all connections have ended.
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    await this.#app.close();
    clearInterval(idle);
    clearTimeout(all);
  }

  /**
   * Closes idle connections. Also closes each connection on which the client has sent no byte, because Node does not count such a
   * connection as idle.
   */
  #cutIdle(): void {
    this.#app.server.closeIdleConnections();
    for (const socket of this.#sockets) {
      if (socket.bytesRead === 0) {
        socket.destroy();
      }
    }
  }
}
