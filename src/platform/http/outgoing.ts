import type { Agent, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';

interface OutgoingCall extends Pick<RequestOptions, 'rejectUnauthorized'> {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  agent?: Agent;
  signal: AbortSignal;
}

// `getBuiltinModule` is used, because an import of `node:http` would also load Node's fetch, which takes 24 ms (Node 24).
const { request: requestHttp } = process.getBuiltinModule('node:http');
const { request: requestHttps } = process.getBuiltinModule('node:https');

/** Maximum size of the body of a response, in bytes. It is at least ten times the size of the largest page of the feed. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum size of the headers of a response, in bytes. Some servers and proxies send more than the 16 KiB that Node allows. */
const MAX_HEADER_BYTES = 64 * 1024;

/** Calls a server, and follows no redirect. Also reads responses that are not quite valid, which `fetch` and undici refuse. */
export function callOut(url: URL, { body, agent, ...options }: OutgoingCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    const fail = (error: Error) => reject(signal.aborted ? (signal.reason as Error) : error);
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url, {
      ...options,
      agent: agent ?? false,
      insecureHTTPParser: true,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    request.on('response', resolve);
    request.on('error', fail);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      fail(new Error('the response changes the protocol'));
    });
    request.end(body);
  });
}

/** Reads the body of a response as text. @throws Error if it is larger than 8 MiB, or ends too early */
export async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BODY_BYTES) {
      throw new Error(`the response is larger than ${MAX_BODY_BYTES} bytes`);
    }
  }
  return Buffer.concat(chunks).toString();
}
