import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Returns a strong entity tag of the body (RFC 9110 §8.8.3). */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/**
 * Returns true if `If-None-Match` names this tag, which means that the caller already has the current response. Treats weak and strong tags
 * alike, as RFC 9110 §13.1.2 requires.
 */
export function matchesIfNoneMatch(request: FastifyRequest, etag: string): boolean {
  const given = request.headers['if-none-match'] ?? '';
  const isThis = (tag: string) => ['*', etag].includes(tag.trim().replace(/^W\//, ''));
  // Nearly every caller sends back exactly the tag that it got, so the whole header is compared first, which is fast. Any other header is
  // split into its list of tags.
  return given === etag || given.split(',').some(isThis);
}

/**
 * Returns true if the header `If-Match` allows a change of the resource that has this tag. The header must be an asterisk, or a list that
 * contains the tag. A weak tag never matches, because the comparison is strong (RFC 9110 §13.1.1).
 * @param etag strong tag without a comma
 */
export function matchesIfMatch(ifMatch: string, etag: string): boolean {
  return ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag);
}

/** Sends a 304 without a body, with the headers that the route has set before. */
export function sendNotModified(reply: FastifyReply): never {
  return reply.code(304).send() as never;
}
