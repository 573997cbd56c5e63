import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** A bare node:http server on a free port of 127.0.0.1. @returns its URL */
export async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}
