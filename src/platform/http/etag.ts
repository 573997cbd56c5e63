import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { startTurn } from '../lib/turn.ts';

/** A strong entity tag of the bytes (RFC 9110 §8.8.3). */
export function etagOf(body: Buffer | string): string {
  return tagOf(createHash('sha256').update(body));
}

/** Bytes that are hashed at once: half a millisecond. */
const SLICE_BYTES = 256 * 1024;

/** The same of many bytes, in turns. */
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
