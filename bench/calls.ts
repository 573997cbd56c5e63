import { request } from 'undici';
import type { Call } from './load-worker.ts';

/** Number of connections over which the load generator sends reads. */
export const READERS = 32;
/**
 * Number of connections over which the load generator sends writes. PostgreSQL flushes several concurrent writes to the disk together. So
 * the service completes more writes per second with more connections.
 */
export const WRITERS = 64;

interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  /** Response body as it came over the network. If the service compressed the body, these bytes are still compressed. */
  body: Uint8Array;
}

/**
 * Makes one call and returns its response.
 * @throws Error if the status is 400 or higher
 */
export async function callOnce(baseUrl: string, { method = 'GET', path, headers, body }: Call): Promise<RawAnswer> {
  const answer = await request(baseUrl + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const bytes = await answer.body.bytes();
  if (answer.statusCode >= 400) {
    throw new Error(`The response to ${method} ${path} was ${answer.statusCode}: ${Buffer.from(bytes).toString()}`);
  }
  const kept = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
  return { status: answer.statusCode, headers: Object.fromEntries(kept), body: bytes };
}

/** Makes one call and returns the parsed JSON body of its response. */
export async function callForJson<T>(baseUrl: string, call: Call): Promise<T> {
  const { body } = await callOnce(baseUrl, call);
  return JSON.parse(Buffer.from(body).toString()) as T;
}

/**
 * Calls `work` for each item, for at most `concurrency` items at the same time. Returns the results in the order of the items. If a call of
 * `work` fails, this function throws the error immediately, and starts no further call. It does not wait for calls that still run.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
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
  const runs = Array.from({ length: concurrency }, run);
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

/** Returns a copy of the call in which the given text replaces `{id}` in the body. */
export function withId(call: Call, id: string): Call {
  return { ...call, body: call.body?.replace('{id}', id) ?? '' };
}

/** Returns the date that is `days` days after `from`, as `YYYY-MM-DD`. `from` is today (UTC) if left out. */
export function dayAfter(days: number, from: string = new Date().toISOString()): string {
  return new Date(Date.parse(from.slice(0, 10)) + days * 86_400_000).toISOString().slice(0, 10);
}
