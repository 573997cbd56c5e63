import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Fault that the proxy applies to one request:
 * - an object: the proxy sends this response itself, and the request does not reach the service.
 * - `hang`: the proxy never responds.
 * - `cut`: the proxy closes the connection before the request reaches the service.
 * - `lose`: the proxy forwards the request, but closes the connection instead of forwarding the response of the service.
 */
export type Fault = { status: number; headers?: Record<string, string>; body?: string } | 'hang' | 'cut' | 'lose';

/** Running proxy between the SDK and a service. */
export interface Front {
  /** Address of the proxy: `http://127.0.0.1:<port>`. */
  url: string;
  /** Requests that have arrived, as `POST /path?query`, in the order of arrival. A test may empty the list. */
  requests: string[];
  /** All requests since the start of the proxy, as `POST /path?query`. A test cannot empty this set. */
  requestsEver: ReadonlySet<string>;
  /** Returns the headers of the latest request. */
  headers(): IncomingMessage['headers'];
  /**
   * Sets the faults of the next requests, one fault for each request. The new faults replace all earlier faults. Requests after the last
   * fault pass unchanged.
   */
  failNext(...faults: Fault[]): void;
  close(): Promise<void>;
}

/** Starts an HTTP proxy in front of a service. Tests use it to record requests and to simulate network faults. */
export async function startFaultProxy(serviceUrl: string): Promise<Front> {
  const requests: string[] = [];
  const requestsEver = new Set<string>();
  const faults: Fault[] = [];
  let latest: IncomingMessage['headers'] = {};
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    requestsEver.add(`${request.method} ${request.url}`);
    latest = request.headers;
    pass(serviceUrl, request, response, faults.shift()).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    requestsEver,
    headers: () => latest,
    failNext: (...next) => void faults.splice(0, faults.length, ...next),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function pass(serviceUrl: string, request: IncomingMessage, response: ServerResponse, fault?: Fault) {
  const body = Buffer.concat(await request.toArray());
  if (fault === 'hang') return;
  if (fault === 'cut') return void response.destroy();
  if (typeof fault === 'object') {
    return void response.writeHead(fault.status, fault.headers).end(fault.body);
  }
  const { host, connection, 'content-length': _, ...headers } = request.headers;
  const answer = await fetch(serviceUrl + request.url, {
    method: request.method ?? '',
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    redirect: 'manual',
    ...(body.length > 0 ? { body } : {}),
  });
  const text = await answer.text();
  if (fault === 'lose') return void response.destroy();
  // `fetch` has already decompressed the body. So the proxy drops the headers that describe the compressed body.
  const kept = [...answer.headers].filter(([name]) => !/^(content-encoding|content-length|transfer-enc)/.test(name));
  response.writeHead(answer.status, Object.fromEntries(kept)).end(text);
}
