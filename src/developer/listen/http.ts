import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { PartnerConfig } from '#platform/config.ts';
import { callOut, readText } from '#platform/http/outgoing.ts';
import { isLoopback } from '#platform/lib/loopback.ts';

interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  header(name: string): string | null;
  text: string;
}

/** Reason why no response came: an error code of the operating system, for example `ECONNREFUSED`, or `timeout`. */
interface HttpFailure {
  failure: string;
}

/** Never throws. Its connections stay open, because `listen` calls the service every second. */
export type CallService = (request: HttpRequest) => Promise<HttpAnswer | HttpFailure>;

export function createServiceCaller({ serviceUrl, proxyVariables: proxyEnv }: PartnerConfig): CallService {
  const Agent = serviceUrl.startsWith('https:') ? HttpsAgent : HttpAgent;
  const agent = new Agent({ keepAlive: true, proxyEnv });
  return async ({ url, timeoutMs, ...options }) => {
    try {
      const response = await callOut(url, { ...options, agent, signal: AbortSignal.timeout(timeoutMs) });
      const header = (name: string) => [response.headers[name] ?? []].flat()[0] ?? null;
      return { status: response.statusCode ?? 0, header, text: await readText(response) };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  };
}

/**
 * Opens a new connection for each request, because an earlier connection may not work any more after the developer has restarted the
 * server. Does not check the certificate of a server on the developer's own machine, because a local certificate is self-signed, and the
 * connection does not leave the machine.
 */
export async function callReceiver({
  url,
  timeoutMs,
  ...options
}: HttpRequest): Promise<{ status: number } | HttpFailure> {
  try {
    const rejectUnauthorized = !isLoopback(url.hostname);
    const response = await callOut(url, { ...options, rejectUnauthorized, signal: AbortSignal.timeout(timeoutMs) });
    response.on('error', () => {}).resume(); // Reads the body and ignores it, so that the connection can close.
    return { status: response.statusCode ?? 0 };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError' || name === 'AbortError') {
    return 'timeout';
  }
  return code?.startsWith('HPE_') ? `unreadable_response: ${message}` : (code ?? message);
}
