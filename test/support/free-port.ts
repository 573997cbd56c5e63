import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * First port of the range from which `freePort` chooses. The operating system takes the ports of outgoing connections from another range.
 * So an outgoing connection cannot take the chosen port before the program of the caller listens on it.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/**
 * Returns a free port of 127.0.0.1, for a program that cannot choose a free port itself. Another program could still take the port before
 * the caller uses it.
 */
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
