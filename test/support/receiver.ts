import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, makeCertificate, trustCertificate } from './certificate.ts';

/** A request that the receiver has got. `at` is the time at which the body was complete, in milliseconds since 1970. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
  at: number;
}

/**
 * Reaction of the receiver to a request. A number is the status of the response. An object can also set headers and a body, and can delay the
 * response by a time in milliseconds (`afterMs`) or until a promise resolves (`after`). `hang` sends no response, and `reset` resets the
 * connection. A function gets the socket and writes to it directly. After that, the receiver handles no further request on this connection.
 */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string; afterMs?: number; after?: Promise<void> }
  | 'hang'
  | 'reset'
  | ((socket: Socket) => void);

export interface ReceiverOptions {
  /** Chooses the reaction to each request. By default, the receiver responds with 204. */
  answer?: (request: ReceivedRequest) => Answer;
  /** By default, one for 127.0.0.1 and localhost that this process trusts. */
  certificate?: Certificate;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly certificate: Certificate;
  readonly requests: readonly ReceivedRequest[];
  readonly connectionCount: number;
  readonly openConnections: number;
  /** Changes the reaction to all following requests. */
  answerWith(answer: (request: ReceivedRequest) => Answer): void;
  /** @throws if this takes more than `timeoutMs`, by default 10 s */
  waitFor(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
  /** Stops the receiver and cuts every connection. */
  close(): Promise<void>;
}

/** Starts an HTTPS server on a free port of 127.0.0.1 that records every request. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const certificate = options.certificate ?? (await trustedCertificate());
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
    socket.on('error', () => {}); // A sender may break the connection at any time, which is no error.
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
        if (Date.now() > deadline)
          throw new Error(`Only ${requests.length} of ${count} requests arrived within ${timeoutMs} ms.`);
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

let ofThisProcess: Promise<Certificate> | undefined;

/** Returns the certificate that all receivers of this process share. Each further trusted certificate would slow down each connection. */
function trustedCertificate(): Promise<Certificate> {
  ofThisProcess ??= makeCertificate().then((certificate) => {
    trustCertificate(certificate.cert);
    return certificate;
  });
  return ofThisProcess;
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
  const { status, headers, body, afterMs, after } = typeof answer === 'number' ? { status: answer } : answer;
  if (afterMs !== undefined) await sleep(afterMs);
  await after;
  response.writeHead(status, headers).end(body);
}

/** Resets the connection through the TCP socket below the TLS socket, because a TLS socket cannot send RST itself. */
function resetConnection(socket: Socket): void {
  const tcp = (socket as Socket & { _parent?: Socket })._parent;
  (tcp ?? socket).resetAndDestroy();
}
