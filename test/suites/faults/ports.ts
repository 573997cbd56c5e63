import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * First port of the range from which `newPort` takes ports. The whole range is below the ports that the operating system gives to outgoing
 * connections. So an outgoing connection cannot take the port of a process while the process restarts.
 */
const FROM = 20_000;
const COUNT = 12_000;
const given = new Set<number>();

/** Returns a port that is free now. No port is returned twice, because a process uses its port again after a restart. */
export async function newPort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * COUNT);
    if (!given.has(port) && (await isFree(port))) {
      given.add(port);
      return port;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}
