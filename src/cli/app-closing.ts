import { Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { App } from '../http/app.ts';
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
   */
  async close(readiness: Readiness): Promise<void> {
    const { server } = this.#app;
    server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
    if (server.listening) {
      Server.prototype.close.call(server); // Not its own close, which cuts what is idle.
      await this.#allClosed(readiness);
    }
    const idle = setInterval(() => this.#cutIdle(), POLL_MS);
    const all = setTimeout(() => server.closeAllConnections(), ANSWER_GRACE_MS);
    await this.#app.close();
    clearInterval(idle);
    clearTimeout(all);
  }

  /** Or until those that are left may be cut. */
  async #allClosed(readiness: Readiness): Promise<void> {
    const countConnections = promisify(this.#app.server.getConnections.bind(this.#app.server));
    while (!readiness.isKnownToStop() && (await countConnections()) > 0) {
      await sleep(POLL_MS);
    }
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
