import { once } from 'node:events';
import { type AddressInfo, createServer, Server } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { isLoopback } from '../lib/loopback.ts';
import type { App } from './app.ts';

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

/** Makes the app listen. @throws NodeJS.ErrnoException EADDRINUSE if another process listens on the port */
export async function listen(app: App, { host, port }: Address): Promise<Listening> {
  const address = await app.listen({ host, port });
  return {
    address,
    isLocal: isLoopback((app.server.address() as AddressInfo).address),
    async stop() {
      await acceptWaiting(app);
      // `app.server.close()` would also close idle connections. The `close` of its base class only stops accepting connections.
      Server.prototype.close.call(app.server);
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

/** Checks that a process can listen on the host, on any free port. @throws NodeJS.ErrnoException */
export async function checkHost(host: string): Promise<void> {
  const server = createServer().listen({ host, port: 0 });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
