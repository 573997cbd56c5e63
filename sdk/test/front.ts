import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What becomes of a request on its way to the service: an answer of the front's own; nothing at all; a cut connection;
 * or the service does what it is asked and the connection is cut before its answer (`lose`).
 */
export type Fault = { status: number; headers?: Record<string, string>; body?: string } | 'hang' | 'cut' | 'lose';

export interface Front {
  /** http://127.0.0.1:<port> */
  url: string;
  /** `POST /path?query`, in the order of arrival; a test may empty it. */
  requests: string[];
  /** Each that there ever was. */
  requestsEver: ReadonlySet<string>;
  /** The headers of the latest request. */
  headers(): IncomingMessage['headers'];
  /** The requests that follow meet these, one each; those behind them get through. */
  failNext(...faults: Fault[]): void;
  close(): Promise<void>;
}

/** The network in front of a service, with the faults that networks have. */
export async function startFront(serviceUrl: string): Promise<Front> {
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
  // fetch has unpacked it already.
  const kept = [...answer.headers].filter(([name]) => !/^(content-encoding|content-length|transfer-enc)/.test(name));
  response.writeHead(answer.status, Object.fromEntries(kept)).end(text);
}
