import { once } from 'node:events';
import { createServer, Server, type Socket } from 'node:net';
import type { App } from './app.ts';

/**
 * Number of sockets that listen on one port. In each round of the event loop, Node (libuv 1.52) accepts one connection of each
 * socket. With rounds of 6 ms, the last of 200 new connections waited 1.2 s with one socket, and 0.3 s with eight.
 */
const SOCKETS = 8;

/** Handle of an app that listens. */
export interface Listening {
  /** URL of the app with the actual port, also if the requested port was 0. */
  address: string;
  /** Stops accepting connections. Open connections stay open. */
  stop: () => void;
}

interface Address {
  host: string;
  /** Port; 0 for any free port. */
  port: number;
}

/**
 * Listens on several sockets if the operating system distributes connections among them (Linux and FreeBSD), otherwise on one.
 * @throws NodeJS.ErrnoException EADDRINUSE if the port is taken, even if the process that has it would share it
 */
export async function listen(app: App, { host, port }: Address): Promise<Listening> {
  // Shared sockets could join a port that another process shares. This socket cannot, so it fails if the port is taken.
  await closed(await open({ host, port }));
  const isShared = await canShare(host);
  const address = await app.listen({ host, port, ...(isShared ? { reusePort: true } : {}) });
  const others = isShared ? await openOthers(app, host) : [];
  app.server.once('close', () => others.forEach((other) => other.close()));
  return {
    address,
    stop() {
      // The `close` of an HTTP server would also close its idle connections.
      Server.prototype.close.call(app.server);
      others.forEach((other) => other.close());
    },
  };
}

async function canShare(host: string): Promise<boolean> {
  try {
    await closed(await open({ host, port: 0, reusePort: true }));
    return true;
  } catch {
    return false;
  }
}

/** Opens the other sockets. Their connections go to the app, as if its own socket had accepted them. */
async function openOthers(app: App, host: string): Promise<Server[]> {
  const { port } = app.server.address() as { port: number };
  const serve = (socket: Socket) => app.server.emit('connection', socket);
  return await Promise.all(Array.from({ length: SOCKETS - 1 }, () => open({ host, port, reusePort: true }, serve)));
}

async function open(
  address: Address & { reusePort?: boolean },
  onConnection: (socket: Socket) => void = () => {},
): Promise<Server> {
  // `node:http` creates its server with the same options.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.listen(address);
  await once(server, 'listening');
  return server;
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
