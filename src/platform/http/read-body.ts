import type { Readable } from 'node:stream';
import { DecodeError } from './decode/decode-error.ts';

/**
 * Maximum number of bytes above the size limit that are read and dropped, so that the refusal can be sent after the end of the body. If
 * more bytes come, the refusal is sent before the body has ended.
 */
const DRAIN_BYTES = 16 * 1024 * 1024;

/**
 * Size in bytes above which the service counts a body against the bounds, limits the pace of its reading, and checks it on a worker thread.
 */
export const LARGE_BODY_BYTES = 64 * 1024;

/** Counter of the bytes of one body, against bounds on all bodies of the caller, the tenant and the process. */
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
  /** Called after each chunk if the body has already more than 64 KiB. It may pause the reading. */
  pace: () => void;
}

/**
 * Reads a body. Returns its bytes, or the error that refuses it: 413 if it is larger than `limitBytes`, or the error of `space`.
 *
 * A refused body is read to its end too, and its bytes are dropped. Otherwise the server would close the connection while the client is
 * still sending, and the client might never see the response. If the body exceeds the limit by more than 16 MiB, the refusal is returned
 * before the body ends. The reading then continues until the client or a timeout of the server ends it.
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
        // This also replaces an earlier refusal by `space`. That refusal asks for a retry, but a retry of this body can never succeed.
        refusal = tooLarge(limitBytes);
      }
      refusal ??= space.growTo(sizeBytes);
      if (sizeBytes > LARGE_BODY_BYTES) {
        pace();
      }
      if (refusal === null) {
        chunks.push(chunk);
        return;
      }
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
  }
  return bytes;
}

function tooLarge(limitBytes: number): DecodeError {
  return new DecodeError(413, 'body', `is larger than ${limitBytes} bytes`);
}
