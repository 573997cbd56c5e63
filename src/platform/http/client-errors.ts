import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

// As an import it would load Node's own fetch too (Node 24; 24 ms).
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const ANSWERS: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The chunk extensions are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive.' },
};
const NOT_HTTP = { status: 400, message: 'The request is not valid HTTP.' } as const;

/** A whole answer as bytes, for requests that never became one (decision 2). The connection ends with it. */
function rawAnswer(status: number, message: string, headers: Record<string, string> = {}): string {
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

/** What a connection is busy with: its latest request, the answer to it, and the answer before that. Empty between two requests. */
interface Exchange {
  request?: IncomingMessage | undefined;
  response?: ServerResponse | undefined;
  before?: ServerResponse | undefined;
}

/**
 * Makes the handler that answers what Node's HTTP parser refused: bytes that are not HTTP, headers too large, a request
 * that never ended; and answers CONNECT, which Node would hang up on. Answers go out in the order of their requests: what
 * follows a good one waits for the answer to that, which the client would otherwise take the refusal for.
 */
export function answerClientErrors(server: Server): (error: NodeJS.ErrnoException, socket: Socket) => void {
  // One object for each connection, emptied when it has answered: kept longer, requests outlive the collections of young garbage.
  const exchanges = new WeakMap<Duplex, Exchange>();
  server.on('request', (request, response) => {
    let exchange = exchanges.get(request.socket);
    if (exchange === undefined) {
      exchange = {};
      exchanges.set(request.socket, exchange);
    }
    exchange.before = exchange.response;
    exchange.request = request;
    exchange.response = response;
    response.on('close', () => forget(exchange, response));
  });
  const afterAnswers = (socket: Duplex, answer: () => void) => {
    const exchange = exchanges.get(socket);
    // Where the latest request has not come to its end, it is that request itself that is refused.
    const due = exchange?.request?.complete ? exchange.response : exchange?.before;
    if (due !== undefined && !due.writableFinished) {
      // Before Node's own listener, which ends the connection of a client that has ended its half.
      due.prependOnceListener('finish', answer);
    } else {
      answer();
    }
  };
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const allow = { Allow: 'GET, HEAD, POST, PUT, PATCH' };
    afterAnswers(socket, () => socket.end(rawAnswer(405, 'CONNECT is not supported.', allow)));
  });
  return (error, socket) => afterAnswers(socket, () => refuse(error, socket));
}

function forget(exchange: Exchange, answered: ServerResponse): void {
  if (exchange.response === answered) {
    exchange.before = undefined;
    exchange.request = undefined;
    exchange.response = undefined;
  }
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = ANSWERS[error.code ?? ''] ?? NOT_HTTP;
  socket.end(rawAnswer(status, message), () => socket.destroy());
}
