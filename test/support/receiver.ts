import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, makeCertificate, trustCertificate } from './certificate.ts';

/** A request as it arrived; `at` is the receiver's clock in milliseconds since 1970, once the body was whole. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
  at: number;
}

/**
 * What the receiver does with a request: answers with a status, or more; never answers; resets the connection; or takes
 * the socket and writes to it whatever it likes (no further request is answered on that connection).
 */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string; afterMs?: number }
  | 'hang'
  | 'reset'
  | ((socket: Socket) => void);

export interface ReceiverOptions {
  /** Decides about each request; 204 for all where left out. */
  answer?: (request: ReceivedRequest) => Answer;
  /** Taken as it is, trusted or not. Where left out, one for 127.0.0.1 and localhost is made and trusted. */
  certificate?: Certificate;
}

export interface Receiver {
  /** https://127.0.0.1:<port>/hook */
  readonly url: string;
  readonly port: number;
  readonly certificate: Certificate;
  /** In the order of their arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** TLS connections, all that there ever were, and those open now. */
  readonly connectionCount: number;
  readonly openConnections: number;
  /** Changes what is done with the requests that follow. */
  answerWith(answer: (request: ReceivedRequest) => Answer): void;
  /** Waits until `count` requests have arrived, and gives all that have. Throws after `timeoutMs`, 10,000 by default. */
  waitFor(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Starts a real HTTPS server on a free port of 127.0.0.1 that records every request. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const certificate = options.certificate ?? (await makeTrustedCertificate());
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let answer = options.answer ?? (() => 204);
  let connectionCount = 0;

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await receive(message);
    requests.push(request);
    await perform(answer(request), message.socket, response);
  };
  const server = createServer(certificate);
  server.on('request', (message, response) => {
    handle(message, response).catch(() => message.socket.destroy());
  });
  server.on('secureConnection', (socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('error', () => {}); // A sender may go away at any time.
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `https://127.0.0.1:${port}/hook`,
    port,
    certificate,
    requests,
    get connectionCount() {
      return connectionCount;
    },
    get openConnections() {
      return sockets.size;
    },
    answerWith(next) {
      answer = next;
    },
    async waitFor(count, timeoutMs = 10_000) {
      const deadline = Date.now() + timeoutMs;
      while (requests.length < count) {
        if (Date.now() > deadline) throw new Error(`${requests.length} of ${count} requests came in ${timeoutMs} ms`);
        await sleep(5);
      }
      return requests;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function makeTrustedCertificate(): Promise<Certificate> {
  const certificate = await makeCertificate();
  trustCertificate(certificate.cert);
  return certificate;
}

async function receive(message: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = await message.toArray();
  const { method = '', url: path = '', headers } = message;
  return { method, path, headers, rawBody: Buffer.concat(chunks), at: Date.now() };
}

async function perform(answer: Answer, socket: Socket, response: ServerResponse): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'reset') return resetConnection(socket);
  if (typeof answer === 'function') return answer(socket);
  const { status, headers, body, afterMs } = typeof answer === 'number' ? { status: answer } : answer;
  if (afterMs !== undefined) await sleep(afterMs);
  response.writeHead(status, headers).end(body);
}

/** A TLS socket cannot send RST itself; the TCP socket below it can. */
function resetConnection(socket: Socket): void {
  const tcp = (socket as Socket & { _parent?: Socket })._parent;
  (tcp ?? socket).resetAndDestroy();
}
