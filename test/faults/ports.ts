import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to outgoing connections, which would take a port while its process is down. */
const FROM = 20_000;
const COUNT = 12_000;
const given = new Set<number>();

/** A port that is free now and is not given twice: a process keeps it over its restarts. */
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
