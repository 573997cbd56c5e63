import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { startTurn } from '../lib/turn.ts';

/** Returns a strong entity tag of the body (RFC 9110 §8.8.3). */
export function etagOf(body: Buffer | string): string {
  return tagOf(createHash('sha256').update(body));
}

/** Number of bytes that are hashed in one step. A step takes half a millisecond. */
const SLICE_BYTES = 256 * 1024;

/** Returns the strong entity tag of a large body. Hashes it in short turns, so that other work can run between them. */
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

/** Returns true if `If-None-Match` names this tag, so that the caller has the response already. Compares weakly (RFC 9110 §13.1.2). */
export function matchesIfNoneMatch(request: FastifyRequest, etag: string): boolean {
  const given = request.headers['if-none-match'] ?? '';
  const isThis = (tag: string) => ['*', etag].includes(tag.trim().replace(/^W\//, ''));
  // Nearly every caller sends only the tag that it got, so the exact comparison comes first.
  return given === etag || given.split(',').some(isThis);
}

/** Sends a 304 with the headers that are set already. */
export function sendNotModified(reply: FastifyReply): never {
  return reply.code(304).send() as never;
}
