import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Address of a server: the path of its Unix socket, or its port on 127.0.0.1. */
export type Target = { path: string } | { port: number };

/** A TCP proxy in front of the database or of a receiver. It can freeze, delay or cut the connections. */
export class TcpProxy {
  target: Target;
  /** Time that the proxy adds to every round trip, in milliseconds. */
  delayMs = 0;
  onConnection = () => {};
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #thawed: Promise<void> | null = null;
  #onThaw = () => {};

  constructor(target: Target) {
    this.target = target;
    this.#server = createServer((client) => {
      this.onConnection();
      const server = connect(this.target);
      this.#carry(client, server);
      this.#carry(server, client);
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Holds back all bytes without an error, as a network partition does. The bytes wait until `thaw`. */
  freeze(): void {
    this.#thawed ??= new Promise((resolve) => (this.#onThaw = resolve));
  }

  /** Forwards bytes again, first the bytes that were held back. So a COMMIT may arrive although the process no longer waits for it. */
  thaw(): void {
    this.#thawed = null;
    this.#onThaw();
  }

  /** Closes every connection. Bytes that are held back are lost. */
  cut(): void {
    this.#sockets.forEach((socket) => socket.destroy());
  }

  close(): void {
    this.thaw();
    this.cut();
    this.#server.close();
  }

  #carry(from: Socket, to: Socket): void {
    let waiting = 0;
    let tail = Promise.resolve();
    const inTurn = (pass: () => void) => {
      const dueAtMs = performance.now() + this.delayMs / 2;
      waiting += 1;
      tail = tail.then(async () => {
        await this.#passable(dueAtMs);
        waiting -= 1;
        if (!to.destroyed) pass();
      });
    };
    const write = (bytes: Buffer) => {
      if (!to.write(bytes)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    };
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on('error', () => {});
    from.on('data', (bytes: Buffer) => {
      if (waiting === 0 && this.#thawed === null && this.delayMs === 0) {
        write(bytes);
      } else {
        inTurn(() => write(bytes));
      }
    });
    from.on('close', (isReset) => {
      this.#sockets.delete(from);
      // A Unix socket, which has no address, cannot be reset.
      inTurn(() => (isReset && to.remoteAddress !== undefined ? to.resetAndDestroy() : to.destroySoon()));
    });
  }

  async #passable(dueAtMs: number): Promise<void> {
    while (this.#thawed !== null) {
      await this.#thawed;
    }
    const waitMs = dueAtMs - performance.now();
    if (waitMs > 0) {
      await sleep(waitMs);
    }
  }
}
