import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A refused body is read and dropped up to these bounds. Otherwise the client, which still sends, might never see the response. */
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

export function hasUnreadBody({ raw, headers }: FastifyRequest): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
  return hasBody && !raw.complete && raw.readableFlowing === null;
}

/** Drops the body of a refused request, so that the connection stays usable. If the body is too long, the connection ends. */
export async function drainBody({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!(await drain(raw))) {
    reply.header('connection', 'close');
  }
}
