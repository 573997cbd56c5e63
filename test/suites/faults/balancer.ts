import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PROBE_EVERY_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;
/** Much shorter than the idle time limit of the service, which so never closes a connection on which the balancer is about to send. */
const IDLE_MS = 5_000;

interface Backend {
  url: string;
  isReady: boolean;
}

/**
 * A load balancer in front of the API processes, with keep-alive connections. It prefers processes whose `/readyz` returns 200. It sends a
 * request to the next process only if a process refuses the connection, and so has not received the request.
 */
export class Balancer {
  #backends: Backend[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: IDLE_MS });
  readonly #server: Server;
  readonly #probing: NodeJS.Timeout;
  #turn = 0;

  constructor(urls: string[]) {
    this.#backends = urls.map((url) => ({ url, isReady: true }));
    this.#server = createServer((incoming, response) => void this.#answer(incoming, response));
    this.#probing = setInterval(() => this.#backends.forEach((backend) => void this.#probe(backend)), PROBE_EVERY_MS);
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  add(url: string): void {
    this.#backends.push({ url, isReady: true });
  }

  remove(url: string): void {
    this.#backends = this.#backends.filter((backend) => backend.url !== url);
  }

  close(): void {
    clearInterval(this.#probing);
    this.#agent.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #probe(backend: Backend): Promise<void> {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const answer = await fetch(`${backend.url}/readyz`, { signal }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    backend.isReady = answer?.status === 200;
  }

  /** Returns all backends in turn, the ready ones first. */
  #choices(): Backend[] {
    this.#turn += 1;
    const inTurn = this.#backends.map((_, place) => this.#backends[(place + this.#turn) % this.#backends.length]);
    const known = inTurn.filter((backend) => backend !== undefined);
    return [...known.filter(({ isReady }) => isReady), ...known.filter(({ isReady }) => !isReady)];
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await incoming.toArray().catch(() => []));
    for (const backend of this.#choices()) {
      if ((await this.#forward(backend, incoming, body, response)) !== 'refused') {
        return;
      }
      backend.isReady = false;
    }
    fail(response, 503, 'no process accepts connections');
  }

  #forward(backend: Backend, incoming: IncomingMessage, body: Buffer, response: ServerResponse) {
    const { promise, resolve } = Promise.withResolvers<'refused' | 'done'>();
    const { method = 'GET', headers, url = '/' } = incoming;
    const { connection, 'transfer-encoding': _, ...kept } = headers;
    const length = body.length > 0 ? { 'content-length': body.length } : {};
    const upstream = request(backend.url + url, { method, headers: { ...kept, ...length }, agent: this.#agent });
    upstream.on('response', (answer) => {
      const { connection: _connection, 'keep-alive': _keepAlive, ...shown } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, { ...shown, 'x-answered-by': backend.url });
      answer.on('error', () => response.destroy());
      answer.pipe(response).on('finish', () => resolve('done'));
    });
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') {
        resolve('refused');
        return;
      }
      const where = upstream.reusedSocket ? 'a kept connection' : 'a new connection';
      fail(response, 502, `${error.code ?? error.message} on ${where} to ${backend.url}`);
      resolve('done');
    });
    upstream.end(body);
    return promise;
  }
}

function fail(response: ServerResponse, status: number, reason: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', 'x-answered-by': 'balancer' });
  response.end(JSON.stringify({ message: `balancer: ${reason}` }));
}
