import { RoomserviceError } from './errors.ts';
import { parseRetryAfter } from './retry.ts';

export interface Request {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

/** Response with a 2xx status and a JSON body. */
export interface Answer {
  body: unknown;
  /**
   * True if the external id of a create request was already in use (header `Idempotent-Replayed`). `body` is then the order or reservation
   * that the service has stored under this id. The request has created no new one.
   */
  isReplayed: boolean;
}

interface Attempt {
  /** Number of this attempt within its call. The first attempt has the number 1. */
  number: number;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Sends a request once. Does not follow redirects, because `fetch` would send the API key and the secret to the new address.
 * @throws RoomserviceError if the response is not a 2xx with a JSON object or array, or if no response arrives
 * @throws the reason of the signal if the caller aborts the signal
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
      const message = `The service did not send a complete response within ${timeoutMs} ms.`;
      throw new RoomserviceError(message, { code: 'timeout', attempts });
    }
    throw new RoomserviceError(`The connection to the service failed: ${reasonOf(cause)}`, {
      code: 'connection_failed',
      attempts,
      cause,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/**
 * Returns the message of a network failure. The error that `fetch` throws has only a general message, so the message of its `cause` is
 * used.
 */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return reason instanceof Error ? reason.message || reason.name : String(reason);
}

/** Parses a JSON text. Returns undefined if the text is not valid JSON. */
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
    return `The response was a redirect (${status}). The SDK does not send the API key and secret to another address. Check baseUrl.`;
  }
  return `The response (${status}) did not come from Roomservice. Check baseUrl and every proxy in front of the service.`;
}

function textOf(body: unknown, field: 'code' | 'message'): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const value: unknown = Reflect.get(body, field);
  return typeof value === 'string' ? value : undefined;
}
