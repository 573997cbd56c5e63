import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { channelHeaders, type TestChannel } from '../../support/channel.ts';

/** Stands in a path or a body where each call has an id of its own; the digits are written over. */
export const UNIQUE = 'unique-00000000';
const DIGITS = 8;
/** A caller who has waited this long goes. */
const PATIENCE_MS = 60_000;
const SLOW_BYTES = 26 * 1024;
const HOLD_MS = 3_000;

export type Who = 'partner' | 'pms' | 'owner' | 'staff' | 'channel' | 'nobody';

/** By who calls: the headers that say so; a channel signs with what it has. */
export interface Keys {
  headers: Record<Exclude<Who, 'channel'>, Record<string, string>>;
  channel: TestChannel;
}

/** One call that a valid caller may make. */
export interface Call {
  name: string;
  who: Who;
  method: string;
  path: string;
  /** Of the body; `channel` and the keys bring the others. */
  type?: string;
  body?: Buffer;
  /** How the answer is taken: at once where nothing is said, 26 KiB a second, or not at all. */
  reading?: 'slowly' | 'never';
  /** The last byte of the body is sent some seconds late. */
  isHeldBack?: boolean;
}

export interface Outcome {
  /** 0: no answer. */
  status: number;
  tookMs: number;
}

/** @param connections at most, as a proxy in front of the service keeps them */
export function newAgent(connections = Number.POSITIVE_INFINITY): Agent {
  return new Agent({ keepAlive: true, maxSockets: connections });
}

/** Makes a call. @param index of all calls to this tenant: what makes an id unique */
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
    const timer = setTimeout(() => sending.destroy(), PATIENCE_MS);
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

/** Takes the answer as the caller does; one who takes nothing is let go by the end of patience. */
function take(response: IncomingMessage, reading: Call['reading']): void {
  if (reading === undefined || (response.statusCode ?? 0) >= 400) {
    response.resume();
  } else if (reading === 'slowly') {
    const timer = setInterval(() => response.read(SLOW_BYTES) ?? response.read(), 1_000);
    response.on('close', () => clearInterval(timer)).on('readable', () => {});
  }
}
