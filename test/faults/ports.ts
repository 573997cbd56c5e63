import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * First port of the range. The range is below the ports of outgoing connections, which could take a port during a
 * restart of its process.
 */
const FROM = 20_000;
const COUNT = 12_000;
const given = new Set<number>();

/** Returns a port that is free now. No port is returned twice, because a process keeps its port over restarts. */
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
