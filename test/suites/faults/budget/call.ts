import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Headers } from '../tenants.ts';

/** Placeholder for an id in a body. Each call replaces the zeros with its own number, so every call has a different id. */
export const UNIQUE = 'unique-00000000';
const DIGITS = 8;
/** Maximum duration of a call. If the response is not complete within this time, the caller closes the connection. */
const CALL_LIMIT_MS = 60_000;
const SLOW_BYTES = 26 * 1024;

export type Who = 'partner' | 'secondPartner' | 'pms' | 'owner' | 'anonymous';

export interface Call {
  who: Who;
  method: string;
  path: string;
  body?: Buffer;
  /** `slowly` reads 26 KiB of the response per second. By default the caller reads immediately. */
  reading?: 'slowly' | 'never';
  /** True if the caller never sends the last byte of the body. */
  isUnfinished?: boolean;
  /** Address from which a proxy forwards the call. By default, the call does not come through a proxy. */
  from?: string;
}

export interface Outcome {
  /** Status of the response, or 0 if there was no response. */
  status: number;
  tookMs: number;
}

/** @param connections the maximum number of open connections to one process of the service */
export function newAgent(connections = Number.POSITIVE_INFINITY): Agent {
  return new Agent({ keepAlive: true, maxSockets: connections });
}

/** @param index the number of this call among all calls of the tenant. It makes the id in the body unique. */
export async function make(
  url: string,
  call: Call,
  authentication: Headers,
  index: number,
  agent: Agent,
): Promise<Outcome> {
  const beganAtMs = performance.now();
  const body = call.body === undefined ? null : withId(call.body, index);
  const { hostname, port } = new URL(url);
  const headers = {
    ...authentication,
    ...(body === null ? {} : { 'content-length': String(body.length), 'content-type': 'application/json' }),
    ...(call.from === undefined ? {} : { 'x-forwarded-for': call.from }),
  };
  const sending = request({ agent, hostname, port, method: call.method, path: call.path, headers });
  const answered = statusOf(sending, call.reading);
  if (call.isUnfinished && body !== null) {
    sending.write(body.subarray(0, -1));
  } else {
    sending.end(body);
  }
  return { status: await answered, tookMs: performance.now() - beganAtMs };
}

export function get(who: Who, path: string): Call {
  return { who, method: 'GET', path };
}

export function json(who: Who, method: string, path: string, value: object): Call {
  return { who, method, path, body: Buffer.from(JSON.stringify(value)) };
}

export function idOf(index: number): string {
  return UNIQUE.slice(0, -DIGITS) + String(index).padStart(DIGITS, '0');
}

function withId(body: Buffer, index: number): Buffer {
  const place = body.indexOf(UNIQUE);
  if (place < 0) {
    return body;
  }
  const own = Buffer.from(body);
  own.write(idOf(index), place);
  return own;
}

function statusOf(sending: ClientRequest, reading: Call['reading']): Promise<number> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => sending.destroy(), CALL_LIMIT_MS);
    const end = (status: number) => {
      clearTimeout(timer);
      resolve(status);
    };
    sending.on('error', () => end(0)).on('close', () => end(0));
    sending.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      response.on('end', () => end(status)).on('error', () => end(0));
      take(response, reading);
    });
  });
}

/** Reads an error immediately. If `reading` is `never`, the time limit ends the call. */
function take(response: IncomingMessage, reading: Call['reading']): void {
  if (reading === undefined || (response.statusCode ?? 0) >= 400) {
    response.resume();
  } else if (reading === 'slowly') {
    const timer = setInterval(() => response.read(SLOW_BYTES) ?? response.read(), 1_000);
    response.on('close', () => clearInterval(timer)).on('readable', () => {});
  }
}
