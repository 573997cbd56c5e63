import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const SANE = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/**
 * Returns the `X-Request-Id` of the request if its characters are safe in the log and in the response (decision 8). Otherwise returns a new
 * id.
 */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID();
}
