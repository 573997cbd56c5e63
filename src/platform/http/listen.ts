import { once } from 'node:events';
import { type AddressInfo, createServer, Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { isLoopback } from '../lib/loopback.ts';
import type { App } from './app.ts';

/**
 * Number of sockets that listen on the same port. In each iteration of the event loop, Node (libuv 1.52) accepts one connection from each
 * socket. With iterations of 6 ms, the last of 200 new connections waited 1.2 s with one socket, and 0.3 s with eight.
 */
const SOCKETS = 8;
/** Maximum time in milliseconds that `stop` accepts the connections that wait. */
const MAX_DRAIN_MS = 1_000;
/** Maximum length in milliseconds of a turn of the event loop in which hardly any connection can have begun to wait. */
const SHORT_TURN_MS = 1;

/** Address of an app that accepts connections, and a function that stops it from accepting more. */
export interface Listening {
  /** URL of the app. It has the actual port, also if the requested port was 0. */
  address: string;
  /** True if only processes of this machine can connect. */
  isLocal: boolean;
  /** Stops the app from accepting connections, but does not close the connections that are already open. */
  stop: () => Promise<void>;
}

interface Address {
  host: string;
  /** Port, or 0 for any free port. */
  port: number;
}

/**
 * Makes the app listen on several sockets if the operating system distributes connections among sockets with the same port (Linux and
 * FreeBSD). On other systems, the app listens on one socket.
 * @throws NodeJS.ErrnoException EADDRINUSE if another process listens on the port, even if that process lets other sockets share it
 */
export async function listen(app: App, { host, port }: Address): Promise<Listening> {
  // Opens a socket that does not share its port, and closes it again. This fails if any other process uses the port. The app itself listens
  // on sockets that share their port. Without this check, another process could share the port too, and the connections would go to either
  // process.
  await closed(await open({ host, port }));
  const isShared = await canShare(host);
  const address = await app.listen({ host, port, ...(isShared ? { reusePort: true } : {}) });
  const others = isShared ? await openOthers(app, host) : [];
  app.server.once('close', () => others.forEach((other) => other.close()));
  return {
    address,
    isLocal: isLoopback((app.server.address() as AddressInfo).address),
    async stop() {
      await acceptWaiting(app);
      // `app.server.close()` would also close idle connections. The `close` of its base class only stops accepting connections.
      Server.prototype.close.call(app.server);
      others.forEach((other) => other.close());
    },
  };
}

/**
 * Accepts the connections that wait. The operating system opens connections before the app accepts them, and resets those that still wait
 * when the port closes. Node accepts them turn by turn, so this returns after a short turn in which none has waited.
 */
async function acceptWaiting({ server }: App): Promise<void> {
  let accepted = 0;
  const count = () => (accepted += 1);
  server.on('connection', count);
  const deadlineMs = performance.now() + MAX_DRAIN_MS;
  await turn(); // The rest of a turn may accept nothing.
  for (let isQuiet = false; !isQuiet && performance.now() < deadlineMs; ) {
    const [before, beganMs] = [accepted, performance.now()];
    await turn();
    isQuiet = accepted === before && performance.now() - beganMs < SHORT_TURN_MS;
  }
  server.off('connection', count);
}

/** What the operator must change if a process cannot listen on a host, by the code of the error. */
export const HOST_REMEDIES: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine has no such address. Set another HOST',
  ENOTFOUND: 'there is no host of that name. Set another HOST',
  EAI_AGAIN: 'the name cannot be looked up. Set another HOST',
};

async function canShare(host: string): Promise<boolean> {
  try {
    await closed(await open({ host, port: 0, reusePort: true }));
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens further sockets on the port on which the app already listens. The app serves their connections like the connections of its own
 * socket.
 */
async function openOthers(app: App, host: string): Promise<Server[]> {
  const { port } = app.server.address() as { port: number };
  const serve = (socket: Socket) => app.server.emit('connection', socket);
  return await Promise.all(Array.from({ length: SOCKETS - 1 }, () => open({ host, port, reusePort: true }, serve)));
}

async function open(
  address: Address & { reusePort?: boolean },
  onConnection: (socket: Socket) => void = () => {},
): Promise<Server> {
  // Node's HTTP server uses the same options for its own socket, so the connections of all sockets behave alike.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.listen(address);
  await once(server, 'listening');
  return server;
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
