import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A port in front of a receiver, behind which another one can be put, and where somebody may look who comes. */
export class TcpProxy {
  /** The port that connections are passed on to. */
  target: number;
  /** Told of every connection before it is passed on; it is passed on when this is done. */
  onConnection: () => Promise<void> = async () => {};
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: number) {
    this.target = target;
    this.#server = createServer((sender) => {
      this.#sockets.add(sender);
      sender.on('error', () => {});
      sender.on('close', () => this.#sockets.delete(sender));
      void this.onConnection().then(() => this.#passOn(sender));
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are kept would go on leading to what stood behind the proxy before. */
  cut(): void {
    this.#sockets.forEach((socket) => socket.destroy());
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #passOn(sender: Socket): void {
    const receiver = connect(this.target, '127.0.0.1');
    receiver.on('error', () => sender.destroy());
    receiver.on('close', () => sender.resetAndDestroy());
    sender.on('close', () => receiver.destroy());
    sender.pipe(receiver).pipe(sender);
  }
}
