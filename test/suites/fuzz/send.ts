import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { HttpCase } from './cases.ts';
import { percentEncoded } from './encodings.ts';
import type { Pools } from './pools.ts';
import type { World } from './world.ts';

/** Time limit of a request. The slowest is the first form, because the service then loads its schemas, which takes 2 s or more. */
export const LIMIT_MS = 20_000;

export interface Sent {
  method: string;
  target: string;
  headers: Record<string, string | string[]>;
  body: Buffer | null;
}

export type Outcome =
  | { kind: 'answer'; status: number; headers: IncomingHttpHeaders; text: string; tookMs: number }
  | { kind: 'fault'; what: string };

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let sentCount = 0;

/** Adds the headers with which the caller authenticates. Every request gets its own request id and its own client address. */
export function prepare(world: World, each: HttpCase): Sent {
  sentCount += 1;
  const body = each.body === null ? null : bodyOf(world.pools, each.body);
  const headers: Record<string, string | string[]> = {
    'X-Request-Id': `fuzz-${sentCount}`,
    'X-Forwarded-For': `10.${(sentCount >> 16) & 255}.${(sentCount >> 8) & 255}.${sentCount & 255}`,
    ...world.headersOf(each.actor, body ?? Buffer.alloc(0)),
  };
  for (const [name, value] of each.headers) {
    const known = Object.keys(headers).find((key) => key.toLowerCase() === name.toLowerCase()) ?? name;
    headers[known] = value;
  }
  if (body !== null) {
    headers[each.isChunked ? 'Transfer-Encoding' : 'Content-Length'] = each.isChunked ? 'chunked' : String(body.length);
  }
  return { method: each.method, target: world.pools.resolve(each.target, percentEncoded), headers, body };
}

function bodyOf(pools: Pools, { encoding, text }: NonNullable<HttpCase['body']>): Buffer {
  switch (encoding) {
    case 'bytes':
      return Buffer.from(text, 'latin1');
    case 'json':
      return Buffer.from(pools.resolve(text, (value) => JSON.stringify(value).slice(1, -1)));
    case 'form':
      return Buffer.from(pools.resolve(text, percentEncoded));
    case 'multipart':
      return Buffer.from(pools.resolve(text, (value) => value));
    default:
      return encoding satisfies never;
  }
}

export function send(url: string, { method, target, headers, body }: Sent): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const fault = (what: string) => resolve({ kind: 'fault', what });
    const sending = request({ agent, hostname, port, method, path: target, headers }, (response) => {
      const chunks: Buffer[] = [];
      const { statusCode: status = 0, headers: received } = response;
      const finish = () => {
        clearTimeout(timer);
        const text = Buffer.concat(chunks).toString();
        resolve({ kind: 'answer', status, headers: received, text, tookMs: performance.now() - startedAt });
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (isEventStream(received)) {
          finish();
          response.destroy();
        }
      });
      response.on('error', (error) => fault(`the response was cut off: ${error.message}`));
      response.on('end', finish);
    });
    const timer = setTimeout(() => {
      fault(`no response within ${LIMIT_MS} ms`);
      sending.destroy();
    }, LIMIT_MS);
    sending.on('error', (error) => {
      clearTimeout(timer);
      fault(`the connection failed: ${error.message}`);
    });
    sending.end(body);
  });
}

/** Returns true for a stream of events. Such a response has no end, so its first bytes count as its body. */
export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type'] === 'text/event-stream';
}

export function hangUp(): void {
  agent.destroy();
}
