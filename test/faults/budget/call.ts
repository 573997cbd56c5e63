import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { channelHeaders, type TestChannel } from '../../support/channel.ts';

/** Placeholder for an id in a path or a body. Each call replaces the zeros with its own number, so every call has a different id. */
export const UNIQUE = 'unique-00000000';
const DIGITS = 8;
/** Maximum duration of a call. If the response is not complete within this time, the caller closes the connection. */
const CALL_LIMIT_MS = 60_000;
const SLOW_BYTES = 26 * 1024;
const HOLD_MS = 3_000;

export type Who = 'partner' | 'pms' | 'owner' | 'staff' | 'channel' | 'anonymous';

/**
 * Data that authenticates the calls of a tenant. A channel (a booking site) signs its calls with the secret in `channel`. All other kinds
 * of callers send the request headers in `headers`.
 */
export interface Keys {
  headers: Record<Exclude<Who, 'channel'>, Record<string, string>>;
  channel: TestChannel;
}

/** One call of a test case, with the kind of caller that makes it. */
export interface Call {
  name: string;
  who: Who;
  method: string;
  path: string;
  /** Content type of the body. The other headers come from `Keys`. */
  type?: string;
  body?: Buffer;
  /**
   * Speed at which the caller reads the response: `slowly` reads 26 KiB per second, and `never` does not read. By default the caller reads
   * immediately.
   */
  reading?: 'slowly' | 'never';
  /** True if the caller sends the last byte of the body 3 s after the other bytes. */
  isHeldBack?: boolean;
}

export interface Outcome {
  /** Status of the response, or 0 if there was no response. */
  status: number;
  tookMs: number;
}

/**
 * Returns an agent with keep-alive connections.
 * @param connections the maximum number of open connections to one process of the service. By default, the number is unlimited
 */
export function newAgent(connections = Number.POSITIVE_INFINITY): Agent {
  return new Agent({ keepAlive: true, maxSockets: connections });
}

/**
 * Makes a call.
 * @param index the number of this call among all calls of the tenant. It makes the ids in the call unique.
 */
export async function make(url: string, call: Call, keys: Keys, index: number, agent: Agent): Promise<Outcome> {
  const beganAtMs = performance.now();
  const body = call.body === undefined ? null : withId(call.body, index);
  const { hostname, port } = new URL(url);
  const length = body === null ? {} : { 'content-length': String(body.length), 'content-type': call.type };
  const headers = { ...length, ...headersOf(call, keys, body ?? Buffer.alloc(0)) };
  const path = call.path.replace(UNIQUE, idOf(index));
  const sending = request({ agent, hostname, port, method: call.method, path, headers });
  const answered = answerTo(sending, call);
  await send(sending, body, call.isHeldBack ?? false);
  return { status: await answered, tookMs: performance.now() - beganAtMs };
}

export function idOf(index: number): string {
  return UNIQUE.slice(0, -DIGITS) + String(index).padStart(DIGITS, '0');
}

function headersOf(call: Call, keys: Keys, body: Buffer): Record<string, string> {
  return call.who === 'channel'
    ? channelHeaders(keys.channel, body, { type: call.type ?? '' })
    : keys.headers[call.who];
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

async function send(sending: ClientRequest, body: Buffer | null, isHeldBack: boolean): Promise<void> {
  if (body !== null && isHeldBack) {
    sending.write(body.subarray(0, -1));
    await sleep(HOLD_MS);
    sending.end(body.subarray(-1));
    return;
  }
  sending.end(body);
}

function answerTo(sending: ClientRequest, { reading }: Call): Promise<number> {
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

/**
 * Reads a response with a status below 400 as fast as `reading` says, and any other response immediately. If `reading` is `never`, the time
 * limit ends the call.
 */
function take(response: IncomingMessage, reading: Call['reading']): void {
  if (reading === undefined || (response.statusCode ?? 0) >= 400) {
    response.resume();
  } else if (reading === 'slowly') {
    const timer = setInterval(() => response.read(SLOW_BYTES) ?? response.read(), 1_000);
    response.on('close', () => clearInterval(timer)).on('readable', () => {});
  }
}
