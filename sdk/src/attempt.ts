import { RoomserviceError } from './errors.ts';
import { parseRetryAfter } from './retry.ts';

export interface Request {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

/** A successful answer. */
export interface Answer {
  body: unknown;
  /** Whether a create found its external id in use already (`Idempotent-Replayed`). */
  isReplayed: boolean;
}

interface Attempt {
  /** 1 for the first. */
  number: number;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Sends a request once. Redirects are not followed: key and secret would go along.
 * @throws RoomserviceError for whatever is not a 2xx with a JSON object or list
 * @throws the signal's reason where the caller gives up
 */
export async function send(request: Request, attempt: Attempt): Promise<Answer> {
  const { response, text } = await exchange(request, attempt);
  const { status, headers } = response;
  const body = parseJson(text);
  if (response.ok && typeof body === 'object' && body !== null) {
    return { body, isReplayed: headers.get('idempotent-replayed') === 'true' };
  }
  throw new RoomserviceError(messageOf(status, body), {
    code: codeOf(status, body),
    status,
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: parseRetryAfter(headers.get('retry-after')),
    attempts: attempt.number,
  });
}

async function exchange({ url, method, headers, body }: Request, attempt: Attempt) {
  const { number: attempts, timeoutMs, signal } = attempt;
  signal?.throwIfAborted();
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const response = await fetch(url, { method, headers, body, redirect: 'manual', signal: ending.signal });
    return { response, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    if (ending.signal.aborted) {
      throw new RoomserviceError(`There was no whole answer within ${timeoutMs} ms.`, { code: 'timeout', attempts });
    }
    throw new RoomserviceError(`The connection failed: ${reasonOf(cause)}`, {
      code: 'connection_failed',
      attempts,
      cause,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** `fetch` hides what happened in the cause of its own error. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return reason instanceof Error ? reason.message || reason.name : String(reason);
}

/** @returns undefined where it is no JSON */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(status: number, body: unknown): string {
  if (status >= 500) return 'server_error';
  return (status >= 400 && textOf(body, 'code')) || 'unexpected_answer';
}

function messageOf(status: number, body: unknown): string {
  const message = status >= 400 ? textOf(body, 'message') : undefined;
  if (message !== undefined) return message;
  if (status >= 300 && status < 400) {
    return `The service answered ${status}, a redirect, which is not followed with key and secret. Check baseUrl.`;
  }
  return `The answer, ${status}, is none of Roomservice's. Check baseUrl, and what stands in between.`;
}

function textOf(body: unknown, field: 'code' | 'message'): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const value: unknown = Reflect.get(body, field);
  return typeof value === 'string' ? value : undefined;
}
