import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { isLoopback } from '../lib/loopback.ts';
import type { App } from './app.ts';

/** In each turn of the event loop, Node (libuv 1.52) accepts one connection from each socket that listens. */
const SOCKETS = 8;
const MAX_DRAIN_MS = 1_000;
/** A turn in which nothing happened is shorter. What comes in a longer one may still wait when the port closes. */
const SHORT_TURN_MS = 0.1;

export type Listening = Awaited<ReturnType<typeof listen>>;

interface Address {
  host: string;
  port: number;
}

/** Listens on several sockets if the system distributes connections among them (Linux and FreeBSD), or else on one. @throws EADDRINUSE */
export async function listen(app: App, { host, port }: Address) {
  const isShared = await canShare(host);
  if (isShared && (await isTaken({ host, port }))) {
    throw Object.assign(new Error(`listen EADDRINUSE: address already in use ${host}:${port}`), { code: 'EADDRINUSE' });
  }
  const address = await app.listen({ host, port, ...(isShared ? { reusePort: true } : {}) });
  const others = isShared ? await openOthers(app, host) : [];
  app.server.once('close', () => others.forEach((other) => other.close()));
  return {
    address,
    /** True if only processes of this machine can connect. */
    isLocal: isLoopback((app.server.address() as AddressInfo).address),
    /** Accepts no more connections, but does not close those that are open. */
    stop: async (): Promise<void> => {
      await acceptWaiting(app);
      // `app.server.close()` would also close idle connections. The `close` of its base class only stops accepting connections.
      Server.prototype.close.call(app.server);
      others.forEach((other) => other.close());
    },
  };
}

/** The system opens connections before the app accepts them, and resets those that wait when the port closes. */
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

/**
 * A socket that shares its port would not fail beside another process that shares it too. This asks by a connection, because a socket that
 * listened for a moment would reset the calls that a proxy keeps waiting during a restart.
 */
async function isTaken({ host, port }: Address): Promise<boolean> {
  const hosts = { '0.0.0.0': ['127.0.0.1'], '::': ['127.0.0.1', '::1'] }[host] ?? [host];
  for (const each of port === 0 ? [] : hosts) {
    const socket = connect({ host: each, port });
    const isAnswered = await once(socket, 'connect').then(
      () => socket.localPort !== port, // A connection may meet itself, if the system gives it this very port.
      () => false,
    );
    socket.destroy();
    if (isAnswered) {
      return true;
    }
  }
  return false;
}

async function canShare(host: string): Promise<boolean> {
  try {
    (await open(host, 0)).close();
    return true;
  } catch {
    return false;
  }
}

async function openOthers(app: App, host: string): Promise<Server[]> {
  const { port } = app.server.address() as { port: number };
  const serve = (socket: Socket) => app.server.emit('connection', socket);
  return await Promise.all(Array.from({ length: SOCKETS - 1 }, () => open(host, port, serve)));
}

async function open(host: string, port: number, onConnection: (socket: Socket) => void = () => {}): Promise<Server> {
  // Node's HTTP server uses the same options for its own socket, so the connections of all sockets behave alike.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.listen({ host, port, reusePort: true });
  await once(server, 'listening');
  return server;
}
