import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { DecodeError } from './decode/decode-error.ts';

/**
 * A body that is refused is still read, and dropped, up to this many bytes and for this many milliseconds. Without it, the connection would
 * be closed while the client is still sending, and the client might never see the response.
 */
const DRAIN_BYTES = 1024 * 1024;
const DRAIN_MS = 2_000;

interface Body {
  payload: Readable;
  limitBytes: number;
  /** Time in milliseconds in which the whole body must arrive. */
  withinMs: number;
}

/**
 * Reads a body. Returns its bytes, or the error with which it must be refused: 413 if it is larger than `limitBytes`, 408 if it does not
 * arrive in time. The error closes the connection if the client may still be sending.
 * @throws DecodeError 400 if the client closes the connection before the end of the body
 */
export function readBody({ payload, limitBytes, withinMs }: Body): Promise<Buffer | Error> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | Error>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const timer = setTimeout(() => finish(tooLate(withinMs)), withinMs);
  const finish = (result: Buffer | Error) => {
    clearTimeout(timer);
    payload.off('data', onData);
    resolve(result);
  };
  const onData = (chunk: Buffer) => {
    sizeBytes += chunk.length;
    chunks.push(chunk);
    if (sizeBytes > limitBytes) {
      payload.off('data', onData);
      void drain(payload).then((isWhole) => finish(tooLarge(limitBytes, isWhole)));
    }
  };
  payload.on('data', onData);
  payload.once('end', () => sizeBytes <= limitBytes && finish(Buffer.concat(chunks)));
  payload.once('error', () => {
    clearTimeout(timer);
    reject(new DecodeError(400, 'body', 'ends before it is complete'));
  });
  return promise;
}

function tooLarge(limitBytes: number, isWhole: boolean): ApiError {
  return new ApiError(413, 'error', `body: is larger than ${limitBytes} bytes`, isWhole ? {} : { connection: 'close' });
}

function tooLate(withinMs: number): ApiError {
  const message = `The body did not arrive within ${withinMs / 1_000} s. Send it again, and send it faster.`;
  return new ApiError(408, 'error', message, { connection: 'close' });
}

/** Reads and drops the rest of a body. Returns false if the body is too long for that, or arrives too slowly. */
function drain(payload: Readable): Promise<boolean> {
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
