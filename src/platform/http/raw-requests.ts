import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { HOST } from './client-address.ts';

// `getBuiltinModule` is used, because an import of `node:http` would also load Node's fetch, which takes 24 ms (Node 24).
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const SANE = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/** Returns the `X-Request-Id` of the request if it is safe in the log and in the response (rule 8), or else a new id. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID();
}

/** Returns the path and query of a request target. A server must also accept a full URL as the target (RFC 9112 §3.2.2). */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');
}

/** Returns true if the percent-encoding in the path is broken, or if its bytes are not UTF-8. */
export function hasBrokenPath(target: string): boolean {
  const [path] = splitTarget(target);
  if (!path.includes('%')) {
    return false;
  }
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}

/** Returns a target that the router accepts, with broken percent-encoding escaped. So earlier checks refuse it first (rule 1). */
export function routableTarget(target: string): string {
  const isBroken = hasBrokenPath(target);
  if (!isBroken && !target.includes('//')) {
    return target;
  }
  const [path, rest] = splitTarget(target);
  const routable = path.replaceAll(/\/{2,}/g, '/');
  return (isBroken ? routable.replaceAll('%', '%25') : routable) + rest;
}

/** The rest begins with the first `?` or `#`. */
export function splitTarget(target: string): [path: string, rest: string] {
  const end = target.search(/[?#]/);
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end)];
}

/** Refuses an invalid Host or Expect header, which Node's parser accepts. @throws ApiError 400 or 417 */
export function refuseBadHead({ raw }: FastifyRequest): void {
  const { host } = raw.headers;
  const isMissing = host === undefined && raw.httpVersion === '1.1';
  if (isMissing || !HOST.test(host ?? '') || countHosts(raw.rawHeaders) > 1) {
    throw new ApiError(400, 'error', 'The request must have exactly one valid Host header.');
  }
  if (raw.headers.expect !== undefined && raw.headers.expect.toLowerCase() !== '100-continue') {
    throw new ApiError(417, 'error', 'The Expect header may only have the value 100-continue.', {
      connection: 'close',
    });
  }
}

/** Node's `headers` keeps only the first Host header, and `headersDistinct` is slower. */
function countHosts(rawHeaders: string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    count += name?.length === 4 && name.toLowerCase() === 'host' ? 1 : 0;
  }
  return count;
}

const REFUSALS: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The request line and the headers are larger than 16 KiB. Send fewer or shorter headers.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    413,
    'The chunk extensions of the body are too large. Send the chunks without extensions.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time. Send it again.'],
};
const NOT_HTTP = 'The request is not valid HTTP. Check its request line and its headers.';

/** Text of a response for a request that Node does not pass to the app (rule 2). */
function rawResponse(status: number, message: string, headers: Record<string, string> = {}): string {
  const body = JSON.stringify({ code: 'error', message });
  const lines = Object.entries({
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': randomUUID(),
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

/** The last two responses of a connection. Empty when the latest has ended, so that ended requests do not stay in memory. */
interface Exchange {
  latest?: ServerResponse | undefined;
  previous?: ServerResponse | undefined;
}

/** Responds to what Node's parser refused, and to CONNECT, after the previous response, for which a client would take the refusal. */
export function createClientErrorHandler(server: Server): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const exchanges = new WeakMap<Duplex, Exchange>();
  server.on('connection', (socket: Duplex) => exchanges.set(socket, {}));
  server.on('request', ({ socket }, response) => {
    const exchange = exchanges.get(socket) ?? {};
    exchange.previous = exchange.latest;
    exchange.latest = response;
    response.on('close', () => {
      if (exchange.latest === response) {
        exchange.latest = undefined;
        exchange.previous = undefined;
      }
    });
  });
  const afterResponses = (socket: Duplex, respond: () => void) => {
    const { latest, previous } = exchanges.get(socket) ?? {};
    // If the latest request is incomplete, the refusal is the response to it. If it is complete, the refused bytes came after it.
    const pending = latest?.req.complete ? latest : previous;
    if (pending !== undefined && !pending.writableFinished) {
      // `respond` must run before Node's own 'finish' listener, which may close the connection.
      pending.prependOnceListener('finish', respond);
    } else {
      respond();
    }
  };
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const allow = { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' };
    afterResponses(socket, () => socket.end(rawResponse(405, 'CONNECT is not supported.', allow)));
  });
  return (error, socket) => afterResponses(socket, () => refuse(error, socket));
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = REFUSALS[error.code ?? ''] ?? [400, NOT_HTTP];
  socket.end(rawResponse(status, message), () => socket.destroy());
}

/** Responds to a client that has ended its half of the connection, and to an unknown `Expect`. Node would not respond. */
export function handleOddRequests(app: FastifyInstance): void {
  // `assign` is used because Node's types do not have the option.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}
