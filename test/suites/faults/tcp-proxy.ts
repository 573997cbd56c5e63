import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of a receiver. Its target port can change, and a callback can observe and delay new connections. */
export class TcpProxy {
  /** Port to which the proxy forwards connections. */
  target: number;
  /** Called for each new connection. The proxy forwards the connection after the returned promise resolves. */
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

  /** Cuts all connections, because connections that are kept open would still lead to the previous target. */
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
