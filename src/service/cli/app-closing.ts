import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '#platform/http/app.ts';
import type { Listening } from '#platform/http/listen.ts';
import type { Readiness } from './readiness.ts';

/** Answers under way may end by themselves for so long, once what is idle has been cut. */
const ANSWER_GRACE_MS = 8_000;
const POLL_MS = 100;

/** Ends an app and its connections, so that no client sees an error. */
export class AppClosing {
  readonly #app: App;
  readonly #sockets = new Set<Socket>();

  /** Before the app listens. */
  constructor(app: App) {
    this.#app = app;
    app.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /**
   * No new connections. Those that are open are asked to go with their next answer: cut at once, one might carry a request that its
   * proxy has just sent. Those that carry nothing are cut when the proxies know that we stop. Then answers under way end, but one that
   * a client does not take must not hold the stop up.
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
    // The app waits for the connections of its own socket alone.
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    await this.#app.close();
    clearInterval(idle);
    clearTimeout(all);
  }

  /** To Node, a connection on which nothing has come yet is not idle: it waits for a request's head. */
  #cutIdle(): void {
    this.#app.server.closeIdleConnections();
    for (const socket of this.#sockets) {
      if (socket.bytesRead === 0) {
        socket.destroy();
      }
    }
  }
}
