import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { startTurn } from '../lib/turn.ts';

/** Returns a strong entity tag of the body (RFC 9110 §8.8.3). */
export function etagOf(body: Buffer | string): string {
  return tagOf(createHash('sha256').update(body));
}

/** Number of bytes that are hashed without a pause. To hash them takes half a millisecond. */
const SLICE_BYTES = 256 * 1024;

/** Returns the strong entity tag of a large body. Pauses between steps of the hashing, so that other requests can run. */
export async function etagInTurns(body: Buffer): Promise<string> {
  const turn = startTurn();
  const hash = createHash('sha256');
  for (let start = 0; start < body.length; start += SLICE_BYTES) {
    if (turn.isOver()) {
      await turn.next();
    }
    hash.update(body.subarray(start, start + SLICE_BYTES));
  }
  return tagOf(hash);
}

function tagOf(hash: Hash): string {
  return `"${hash.digest('base64url').slice(0, 27)}"`;
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
