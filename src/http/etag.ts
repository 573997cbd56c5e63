import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A strong entity tag of the bytes (RFC 9110 §8.8.3). */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** Whether the caller has this very answer already: `If-None-Match` names its tag, compared weakly (RFC 9110 §13.1.2). */
export function hasCurrent(request: FastifyRequest, etag: string): boolean {
  const given = request.headers['if-none-match'] ?? '';
  const isThis = (tag: string) => ['*', etag].includes(tag.trim().replace(/^W\//, ''));
  // Nearly every caller names the one tag that it was given.
  return given === etag || given.split(',').some(isThis);
}

/** Answers 304 with the headers set so far. */
export function sendNotModified(reply: FastifyReply): never {
  return reply.code(304).send() as never;
}
