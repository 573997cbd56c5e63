import type { Readable } from 'node:stream';
import { DecodeError } from './decode/decode-error.ts';

/** Number of bytes above the size limit that are read and dropped. If more bytes come, the refusal is sent before the body has ended. */
const DRAIN_BYTES = 16 * 1024 * 1024;

/** Size above which a body is counted against the bounds, read in turns, and checked by a worker thread. */
export const LARGE_BODY_BYTES = 64 * 1024;

/** Memory for one body, counted against bounds that it shares with other bodies. */
export interface BodySpace {
  /**
   * Grows the space.
   * @param bytes size of the whole body so far
   * @returns the error that refuses these bytes, or null
   */
  growTo(bytes: number): Error | null;
}

interface Body {
  payload: Readable;
  /** Value of the Content-Length header; NaN if the header is missing. */
  declaredBytes: number;
  limitBytes: number;
  space: BodySpace;
  /** Called after each chunk of a body above 64 KiB. */
  pace: () => void;
}

/**
 * Reads a body. Returns its bytes, or the error that refuses it: 413 if it is larger than `limitBytes`, or the error of the space. A
 * refused body is still read, and its bytes are dropped. If the server responded and closed the connection while the client is still
 * sending, the client might never see the response. If the body is more than 16 MiB above the limit, the refusal is returned
 * immediately, and the reading continues until the client or a timeout of the server ends it.
 * @throws DecodeError 400 if the client leaves before the end
 */
export function readBody({ payload, declaredBytes, limitBytes, space, pace }: Body): Promise<Buffer | Error> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let sizeBytes = 0;
    let refusal = declaredBytes > 0 && declaredBytes <= limitBytes ? space.growTo(declaredBytes) : null;
    payload.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) {
        // This replaces a temporary refusal by the space, because a retry of this body can never succeed.
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

/** Joins a large body into one piece of memory outside V8's heap. The operating system gets this memory back as soon as it is freed. */
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
