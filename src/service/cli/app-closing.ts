import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '#platform/http/app.ts';
import type { Listening } from '#platform/http/listen.ts';
import type { Readiness } from './readiness.ts';

/** Time in which responses under way may end after the wait for the proxies. After it, all connections are closed. */
const ANSWER_GRACE_MS = 8_000;
const POLL_MS = 100;

/** Closes an app and its connections in an order in which clients see no error. */
export class AppClosing {
  readonly #app: App;
  readonly #sockets = new Set<Socket>();

  /** Must be called before the app listens, so that it knows every connection. */
  constructor(app: App) {
    this.#app = app;
    app.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /**
   * Closes the app in these steps.
   * 1. It accepts no new connection. Each open connection is told to close with its next response. It is not closed immediately, because
   *    its proxy may have just sent a request.
   * 2. When the proxies know of the stop, idle connections are closed.
   * 3. Responses under way may end. After a grace of 8 s the rest is closed, because a client that does not read must not delay the stop.
   * @param listening null if the app does not listen
   */
  async close(readiness: Readiness, listening: Listening | null): Promise<void> {
    const { server } = this.#app;
    server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
    listening?.stop();
    while (this.#sockets.size > 0 && !readiness.isKnownToStop()) {
      await sleep(POLL_MS);
    }
    const idle = setInterval(() => this.#cutIdle(), POLL_MS);
    const all = setTimeout(() => server.closeAllConnections(), ANSWER_GRACE_MS);
    // The app waits only for connections that its own socket has accepted, so wait for all of them here.
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    await this.#app.close();
    clearInterval(idle);
    clearTimeout(all);
  }

  /** Closes idle connections. Node does not count a connection without any data as idle, because it waits for the head of a request. */
  #cutIdle(): void {
    this.#app.server.closeIdleConnections();
    for (const socket of this.#sockets) {
      if (socket.bytesRead === 0) {
        socket.destroy();
      }
    }
  }
}
