import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports of which `freePort` takes one. The system gives no port of this range to an outgoing connection. Otherwise a connection of another
 * test could take the port before the program listens on it.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** Returns a port of 127.0.0.1 that was free when it was checked, for a program that cannot choose a free port itself. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isFree(port)) {
      return port;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
