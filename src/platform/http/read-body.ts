import type { Readable } from 'node:stream';
import { DecodeError } from './decode/decode-error.ts';

/**
 * Number of bytes above the size limit that the service still reads and drops before it refuses the body. It sends the refusal when the
 * body has ended, or when the body exceeds the limit by more than this number of bytes.
 */
const DRAIN_BYTES = 16 * 1024 * 1024;

/**
 * Size in bytes above which a body is large. The service pauses between the chunks of a large body, so that other requests can run. A
 * worker thread decodes and validates the body. A large body of an authenticated caller counts against the bounds on bodies in memory.
 */
export const LARGE_BODY_BYTES = 64 * 1024;

/**
 * Counter of the bytes of one body. The total size of the bodies of each caller, of each tenant and of the process has a bound. The counter
 * refuses the body if one of these three totals would exceed its bound.
 */
export interface BodySpace {
  /**
   * Records that the body has grown to `bytes`.
   * @param bytes size of the whole body so far
   * @returns the error that refuses the body, or null if it stays within the bounds
   */
  growTo(bytes: number): Error | null;
}

interface Body {
  payload: Readable;
  /** Value of the Content-Length header; NaN if the header is missing. */
  declaredBytes: number;
  limitBytes: number;
  space: BodySpace;
  /** Called after each chunk if more than 64 KiB of the body have arrived. The function may pause the reading. */
  pace: () => void;
}

/**
 * Reads a body. Returns its bytes, or the error with which it must be refused:
 * - If the body is larger than `limitBytes`, the error is 413.
 * - If the body would exceed a bound on the bodies in memory, the error is the result of `space.growTo`.
 *
 * A refused body is read to its end too, and its bytes are dropped. Otherwise the server would close the connection while the client is
 * still sending, and the client might never see the response. If the body exceeds the limit by more than 16 MiB, the error is returned
 * before the body ends. The rest of the body is still read and dropped, unless a timeout of the server closes the connection.
 * @throws DecodeError 400 if the client closes the connection before the end of the body
 */
export function readBody({ payload, declaredBytes, limitBytes, space, pace }: Body): Promise<Buffer | Error> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let sizeBytes = 0;
    let refusal = declaredBytes > 0 && declaredBytes <= limitBytes ? space.growTo(declaredBytes) : null;
    payload.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) {
        // `space` may have refused this body with an error that asks for a retry. A body above the size limit can never succeed, so the 413
        // replaces that error.
        refusal = tooLarge(limitBytes);
      }
      refusal ??= space.growTo(sizeBytes);
      if (sizeBytes > LARGE_BODY_BYTES) {
        pace();
      }
      chunks.push(chunk);
      if (refusal === null) {
        return;
      }
      chunks.forEach(freeChunk);
      chunks = [];
      if (sizeBytes > limitBytes + DRAIN_BYTES) {
        resolve(refusal);
      }
    });
    payload.on('end', () =>
      resolve(refusal ?? (sizeBytes > LARGE_BODY_BYTES ? joined(chunks, sizeBytes) : Buffer.concat(chunks))),
    );
    payload.on('error', () => reject(new DecodeError(400, 'body', 'ends before it is complete')));
  });
}

/**
 * Joins the chunks of a large body into one block of memory outside V8's heap. The operating system gets this block back as soon as it is
 * freed.
 */
function joined(chunks: Buffer[], sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  let end = 0;
  for (const chunk of chunks) {
    end += chunk.copy(bytes, end);
    freeChunk(chunk);
  }
  return bytes;
}

/**
 * Empties a chunk and frees its memory immediately. Otherwise the chunk would stay in memory until a garbage collection, and the garbage
 * collections for large bodies would delay other requests. A chunk that shares its memory block with other Buffers is left as it is.
 */
export function freeChunk({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) {
    buffer.transfer(0);
  }
}

function tooLarge(limitBytes: number): DecodeError {
  return new DecodeError(413, 'body', `is larger than ${limitBytes} bytes`);
}
