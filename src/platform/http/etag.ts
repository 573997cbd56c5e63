import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Returns a strong entity tag (RFC 9110 §8.8.3). */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** Returns true if `If-None-Match` names this tag. Weak and strong tags are alike (RFC 9110 §13.1.2). */
export function matchesIfNoneMatch(request: FastifyRequest, etag: string): boolean {
  const given = request.headers['if-none-match'] ?? '';
  const isThis = (tag: string) => ['*', etag].includes(tag.trim().replace(/^W\//, ''));
  // Nearly every caller sends back exactly the tag that it got, and this comparison is fast.
  return given === etag || given.split(',').some(isThis);
}

/** Returns true if `If-Match` allows a change of a resource with this strong tag. A weak tag never matches (RFC 9110 §13.1.1). */
export function matchesIfMatch(ifMatch: string, etag: string): boolean {
  return ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag);
}

/** Sends a 304 without a body, with the headers that the route has set before. */
export function sendNotModified(reply: FastifyReply): never {
  return reply.code(304).send() as never;
}
