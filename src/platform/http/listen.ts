import { once } from 'node:events';
import { createServer, Server, type Socket } from 'node:net';
import type { App } from './app.ts';

/**
 * Sockets that listen on one port. Node (libuv 1.52) accepts one connection of each in a round of the event loop: with one socket, the
 * last of 200 new connections waited for 1.2 s while rounds took 6 ms; with eight, for 0.3 s.
 */
const SOCKETS = 8;

/** Where an app listens. */
export interface Listening {
  /** With the port, also where any free one was asked for. */
  address: string;
  /** Takes no new connections from now on. Those that are open stay. */
  stop: () => void;
}

interface Address {
  host: string;
  /** 0: any that is free. */
  port: number;
}

/**
 * Listens by several sockets, where the operating system shares connections out among them (Linux and FreeBSD), else by one.
 * @throws NodeJS.ErrnoException EADDRINUSE also where the process that listens there would share the port
 */
export async function listen(app: App, { host, port }: Address): Promise<Listening> {
  await closed(await open({ host, port }));
  const isShared = await canShare(host);
  const address = await app.listen({ host, port, ...(isShared ? { reusePort: true } : {}) });
  const others = isShared ? await openOthers(app, host) : [];
  app.server.once('close', () => others.forEach((other) => other.close()));
  return {
    address,
    stop() {
      // Not its own close, which cuts what is idle.
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

/** Their connections are the app's, as if its own socket had accepted them. */
async function openOthers(app: App, host: string): Promise<Server[]> {
  const { port } = app.server.address() as { port: number };
  const serve = (socket: Socket) => app.server.emit('connection', socket);
  return await Promise.all(Array.from({ length: SOCKETS - 1 }, () => open({ host, port, reusePort: true }, serve)));
}

async function open(
  address: Address & { reusePort?: boolean },
  onConnection: (socket: Socket) => void = () => {},
): Promise<Server> {
  // With the options that node:http gives its own server.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.listen(address);
  await once(server, 'listening');
  return server;
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
