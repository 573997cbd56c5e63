import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** Starts a bare node:http server on a free port of 127.0.0.1, and returns its URL. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}
