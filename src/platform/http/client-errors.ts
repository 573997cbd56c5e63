import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

// `getBuiltinModule` is used, because an import of `node:http` would also load Node's fetch, which takes 24 ms (Node 24).
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const REFUSALS: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'The request line and the headers are larger than 16 KiB. Send fewer or shorter headers.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    message: 'The chunk extensions of the body are too large. Send the chunks without extensions.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time. Send it again.' },
};
const NOT_HTTP = {
  status: 400,
  message: 'The request is not valid HTTP. Check its request line and its headers.',
} as const;

/**
 * Returns the text of a complete HTTP response, for a request that Node does not pass to the app (decision 2). The connection is closed
 * after this response.
 */
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

/**
 * State of a connection: its latest request, the response to this request, and the response to the previous request. All fields are cleared
 * when the latest response has ended.
 */
interface Exchange {
  request?: IncomingMessage | undefined;
  response?: ServerResponse | undefined;
  previous?: ServerResponse | undefined;
}

/**
 * Returns the handler that responds to requests that Node's HTTP parser refused. These are bytes that are not HTTP, headers that are too
 * large, and requests that did not arrive in time. The handler also responds to CONNECT, because Node would only close the connection.
 *
 * If the response to the previous request on the connection is not complete, the handler waits before it sends the refusal. Otherwise the
 * client would take the refusal for the response to the previous request.
 */
export function createClientErrorHandler(server: Server): (error: NodeJS.ErrnoException, socket: Socket) => void {
  // Each connection has one `Exchange`, and its fields are cleared after each response. Otherwise requests that have ended would stay in
  // memory while their connection is open, which makes garbage collection slower.
  const exchanges = new WeakMap<Duplex, Exchange>();
  server.on('request', (request, response) => {
    let exchange = exchanges.get(request.socket);
    if (exchange === undefined) {
      exchange = {};
      exchanges.set(request.socket, exchange);
    }
    exchange.previous = exchange.response;
    exchange.request = request;
    exchange.response = response;
    response.on('close', () => clear(exchange, response));
  });
  const afterResponses = (socket: Duplex, respond: () => void) => {
    const exchange = exchanges.get(socket);
    // The refusal must come after the responses to all earlier requests on the connection.
    // - If the latest request is incomplete, Node's parser has refused this request. The refusal is the response to it, so only the
    //   response to the previous request must be sent first.
    // - If the latest request is complete, Node's parser has refused bytes after this request. So the response to the latest request must
    //   be sent first.
    const pending = exchange?.request?.complete ? exchange.response : exchange?.previous;
    if (pending !== undefined && !pending.writableFinished) {
      // If the client has ended its half of the connection, Node has a 'finish' listener that closes the connection. `respond` must send
      // the refusal before this listener runs.
      pending.prependOnceListener('finish', respond);
    } else {
      respond();
    }
  };
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const allow = { Allow: 'GET, HEAD, POST, PUT, PATCH' };
    afterResponses(socket, () => socket.end(rawResponse(405, 'CONNECT is not supported.', allow)));
  });
  return (error, socket) => afterResponses(socket, () => refuse(error, socket));
}

function clear(exchange: Exchange, closed: ServerResponse): void {
  if (exchange.response === closed) {
    exchange.previous = undefined;
    exchange.request = undefined;
    exchange.response = undefined;
  }
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = REFUSALS[error.code ?? ''] ?? NOT_HTTP;
  socket.end(rawResponse(status, message), () => socket.destroy());
}
