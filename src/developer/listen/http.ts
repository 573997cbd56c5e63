import { Agent, request } from 'undici';

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** For connection, answer and body together. */
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  header(name: string): string | null;
  text: string;
}

/** Why there was no answer: the code of the system's error, or `timeout`. */
export interface HttpFailure {
  failure: string;
}

/** How much of an answer is taken, in bytes: a page of the feed is at most a tenth of it. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Kept connections for the service, which is asked every second or two. */
const kept = new Agent({ maxResponseSize: MAX_ANSWER_BYTES });
/** For a server under development a connection each: it may have been restarted since the last one. */
const fresh = { pipelining: 0, maxResponseSize: MAX_ANSWER_BYTES };
const single = new Agent(fresh);
/** On the developer's own machine a certificate is made by hand, and there is nobody in between. */
const singleToLoopback = new Agent({ ...fresh, connect: { rejectUnauthorized: false } });

/** One call of the service, its answer read whole. */
export async function callService({ url, timeoutMs, ...options }: HttpRequest): Promise<HttpAnswer | HttpFailure> {
  try {
    const answer = await request(url, { ...options, dispatcher: kept, signal: AbortSignal.timeout(timeoutMs) });
    const header = (name: string) => [answer.headers[name] ?? []].flat()[0] ?? null;
    return { status: answer.statusCode, header, text: await answer.body.text() };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** One POST to the developer's own server, wherever that is. Its status is the answer; redirects are not followed. */
export async function callReceiver({
  url,
  timeoutMs,
  ...options
}: HttpRequest): Promise<{ status: number } | HttpFailure> {
  const dispatcher = isLoopback(url) ? singleToLoopback : single;
  try {
    const answer = await request(url, { ...options, dispatcher, signal: AbortSignal.timeout(timeoutMs) });
    answer.body.dump().catch(() => {}); // Read so that the connection ends, for nobody.
    return { status: answer.statusCode };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  return name === 'TimeoutError' ? 'timeout' : (code ?? message);
}

/** Whether the URL leads to this very machine. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
