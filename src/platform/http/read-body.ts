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
  let timer = setTimeout(() => finish(tooLate(withinMs)), withinMs);
  const finish = (result: Buffer | Error) => {
    clearTimeout(timer);
    payload.off('data', onData);
    resolve(result);
  };
  const onData = (chunk: Buffer) => {
    const wasWithin = sizeBytes <= limitBytes;
    sizeBytes += chunk.length;
    if (sizeBytes <= limitBytes) {
      chunks.push(chunk);
    } else if (sizeBytes > limitBytes + DRAIN_BYTES) {
      finish(tooLarge(limitBytes));
    } else if (wasWithin) {
      chunks.length = 0;
      clearTimeout(timer);
      timer = setTimeout(() => finish(tooLarge(limitBytes)), DRAIN_MS);
    }
  };
  payload.on('data', onData);
  payload.once('end', () =>
    finish(sizeBytes > limitBytes ? new DecodeError(413, 'body', largerThan(limitBytes)) : Buffer.concat(chunks)),
  );
  payload.once('error', () => {
    clearTimeout(timer);
    reject(new DecodeError(400, 'body', 'ends before it is complete'));
  });
  return promise;
}

function largerThan(limitBytes: number): string {
  return `is larger than ${limitBytes} bytes`;
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError(413, 'error', `body: ${largerThan(limitBytes)}`, { connection: 'close' });
}

function tooLate(withinMs: number): ApiError {
  const message = `The body did not arrive within ${withinMs / 1_000} s. Send it again, and send it faster.`;
  return new ApiError(408, 'error', message, { connection: 'close' });
}

/**
 * Reads and drops the body of a request that was refused before its body was read, so that the client can use the connection for its next
 * request. Closes the connection if the body is too long for that.
 */
export function drainBody({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
  if (!hasBody || raw.complete || raw.readableFlowing !== null) {
    return;
  }
  let left = DRAIN_BYTES;
  const close = () => {
    raw.pause();
    if (reply.raw.writableFinished) {
      raw.socket.destroy();
    } else {
      reply.raw.once('finish', () => raw.socket.destroy());
    }
  };
  const timer = setTimeout(close, DRAIN_MS);
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) {
      clearTimeout(timer);
      close();
    }
  });
  raw.once('close', () => clearTimeout(timer));
  raw.once('end', () => clearTimeout(timer));
}
