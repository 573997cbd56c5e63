import { isLoopback } from '#platform/lib/loopback.ts';
import { Agent, request } from 'undici';

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Time limit for the connection and the whole response, in milliseconds. */
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  header(name: string): string | null;
  text: string;
}

/** Reason why no response came: an error code of the operating system, for example `ECONNREFUSED`, or `timeout`. */
export interface HttpFailure {
  failure: string;
}

/** Maximum size of a response, in bytes. It is at least ten times the size of the largest page of the feed. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Connections to the service. They stay open, because `listen` calls the service every one or two seconds. */
const keepAlive = new Agent({ maxResponseSize: MAX_ANSWER_BYTES });
/**
 * Settings that open a new connection for each request to the developer's server. A connection of an earlier request may not work any more,
 * because the developer may have restarted the server.
 */
const newConnection = { pipelining: 0, maxResponseSize: MAX_ANSWER_BYTES };
const single = new Agent(newConnection);
/**
 * Agent for a server on the developer's own machine. It does not check the certificate, because a local certificate is self-signed, and the
 * connection does not leave the machine.
 */
const singleToLoopback = new Agent({ ...newConnection, connect: { rejectUnauthorized: false } });

/** Calls the service and reads the whole response. Never throws. Returns the reason if no response came. */
export async function callService({ url, timeoutMs, ...options }: HttpRequest): Promise<HttpAnswer | HttpFailure> {
  try {
    const answer = await request(url, { ...options, dispatcher: keepAlive, signal: AbortSignal.timeout(timeoutMs) });
    const header = (name: string) => [answer.headers[name] ?? []].flat()[0] ?? null;
    return { status: answer.statusCode, header, text: await answer.body.text() };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/**
 * Sends a request to the developer's server, which may be on any machine. Returns only the status of the response. Follows no redirect.
 * Never throws.
 */
export async function callReceiver({
  url,
  timeoutMs,
  ...options
}: HttpRequest): Promise<{ status: number } | HttpFailure> {
  const dispatcher = isLoopback(url.hostname) ? singleToLoopback : single;
  try {
    const answer = await request(url, { ...options, dispatcher, signal: AbortSignal.timeout(timeoutMs) });
    answer.body.dump().catch(() => {}); // Reads the body and ignores it, so that the connection can close.
    return { status: answer.statusCode };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  return name === 'TimeoutError' ? 'timeout' : (code ?? message);
}
