import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A body that is refused is still read, and dropped, up to this many bytes and for this many milliseconds. Without it, the connection would
 * be closed while the client is still sending, and the client might never see the response.
 */
const DRAIN_BYTES = 1024 * 1024;
const DRAIN_MS = 2_000;

/** Reads and drops the rest of a body. Returns false if the body is too long for that, or arrives too slowly. */
export function drain(payload: Readable): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let left = DRAIN_BYTES;
  const timer = setTimeout(() => resolve(false), DRAIN_MS);
  payload.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) {
      resolve(false);
    }
  });
  payload.once('end', () => resolve(true));
  payload.once('close', () => resolve(true));
  return promise.finally(() => clearTimeout(timer));
}

/** Returns true if a request was refused before its body was read, and the body has not ended. */
export function hasUnreadBody({ raw, headers }: FastifyRequest): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
  return hasBody && !raw.complete && raw.readableFlowing === null;
}

/**
 * Reads and drops the body of a request that was refused before its body was read, so that the client can use the connection for its next
 * request. If the body is too long for that, the connection ends after the response.
 */
export async function drainBody({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!(await drain(raw))) {
    reply.header('connection', 'close');
  }
}
