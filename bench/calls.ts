import { request } from 'undici';
import type { Call } from './load-worker.ts';

/** How many connections the load comes over: reads, and writes, which wait for the disk together. */
export const READERS = 32;
export const WRITERS = 64;

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  /** As it came over the wire, compressed or not. */
  body: Uint8Array;
}

/** One call, by itself. @throws Error where the answer is no success and not 304 */
export async function callOnce(baseUrl: string, { method = 'GET', path, headers, body }: Call): Promise<RawAnswer> {
  const answer = await request(baseUrl + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const bytes = await answer.body.bytes();
  if (answer.statusCode >= 400) {
    throw new Error(`${method} ${path} was answered ${answer.statusCode}: ${Buffer.from(bytes).toString()}`);
  }
  const kept = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
  return { status: answer.statusCode, headers: Object.fromEntries(kept), body: bytes };
}

/** The body of one call's answer, parsed. */
export async function callForJson<T>(baseUrl: string, call: Call): Promise<T> {
  const { body } = await callOnce(baseUrl, call);
  return JSON.parse(Buffer.from(body).toString()) as T;
}

/** Works through a list with so many at once, keeping its order; ends with the first that fails. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  let hasFailed = false;
  const run = async () => {
    for (const [index, item] of entries) {
      if (hasFailed) {
        return;
      }
      results[index] = await work(item);
    }
  };
  const runs = Array.from({ length: atOnce }, run);
  await Promise.all(runs).catch((error: unknown) => {
    hasFailed = true;
    throw error;
  });
  return results;
}

export function jsonCall(
  path: string,
  headers: Record<string, string>,
  body: unknown,
  method: 'POST' | 'PUT' = 'POST',
): Call {
  return { method, path, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The call with this text for its `{id}`. */
export function withId(call: Call, id: string): Call {
  return { ...call, body: call.body?.replace('{id}', id) ?? '' };
}

/** The day so many days after today, or after another day. */
export function dayAfter(days: number, from: string = new Date().toISOString()): string {
  return new Date(Date.parse(from.slice(0, 10)) + days * 86_400_000).toISOString().slice(0, 10);
}
