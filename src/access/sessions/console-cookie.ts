import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalidField } from '#platform/errors.ts';

/** Over plain HTTP, which is meant only for development on one machine or in a private network. */
const PLAIN_NAME = 'roomservice';
/** Over HTTPS. With the prefix `__Host-`, a browser stores the cookie only if this host has set it with `Secure` and for all paths. */
export const SECURE_NAME = `__Host-${PLAIN_NAME}`;
/**
 * Header that a call with a session cookie must have. A page of another site can send this header only after a CORS preflight, which the
 * API refuses. So a call with this header does not come from another site.
 */
export const CONSOLE_HEADER = 'X-Roomservice-Console';
/** A call without this header is accepted too, because programs that are not browsers do not send the header. */
const OWN_SITE = ['same-origin', 'none'];

/** Returns true if browsers reach the service over HTTPS, as `PUBLIC_URL` or a trusted proxy says. */
function isSecure({ server, protocol }: FastifyRequest): boolean {
  return (server.publicUrl ?? '').startsWith('https:') || protocol === 'https';
}

function isFromConsole({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return headers[CONSOLE_HEADER.toLowerCase()] === '1' && (site === undefined || OWN_SITE.includes(site));
}

/**
 * Refuses a call that would set a cookie, if it does not come from the console. Otherwise another site could sign its visitor in to an
 * account that the site has chosen.
 */
export function refuseOtherThanConsole(request: FastifyRequest): void {
  if (!isFromConsole(request)) {
    throw invalidField(CONSOLE_HEADER, 'must be 1, and the call must not come from another site');
  }
}

/** Returns null if the cookie is missing or repeated, or if the call does not come from the console. */
export function readConsoleCookie(request: FastifyRequest): string | null {
  const prefix = `${isSecure(request) ? SECURE_NAME : PLAIN_NAME}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  const [value, ...others] = cookies.filter((cookie) => cookie.startsWith(prefix));
  return value !== undefined && others.length === 0 && isFromConsole(request) ? value.slice(prefix.length) : null;
}

/** The browser keeps the cookie for these seconds. The session may end earlier. */
export function setConsoleCookie(request: FastifyRequest, reply: FastifyReply, token: string, seconds: number): void {
  const [name, secure] = isSecure(request) ? [SECURE_NAME, '; Secure'] : [PLAIN_NAME, ''];
  reply.header('set-cookie', `${name}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`);
}

/** Does nothing if the call does not come from the console. */
export function clearConsoleCookie(request: FastifyRequest, reply: FastifyReply): void {
  if (isFromConsole(request)) {
    setConsoleCookie(request, reply, '', 0);
  }
}
