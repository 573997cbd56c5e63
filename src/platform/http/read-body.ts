import type { Readable } from 'node:stream';
import { DecodeError } from './decode/decode-error.ts';

/** How far a body may run past what is kept of it before the answer stops waiting for its end. */
const DRAIN_BYTES = 16 * 1024 * 1024;

/** A larger body is counted against the bounds, read in turns, and checked by a worker thread. */
export const LARGE_BODY_BYTES = 64 * 1024;

/** Memory for one body, counted against bounds that it shares with others. */
export interface BodySpace {
  /** Asks for so many bytes in all. @returns why they are refused, else null */
  growTo(bytes: number): Error | null;
}

interface Body {
  payload: Readable;
  /** As the header says; NaN without one. */
  declaredBytes: number;
  limitBytes: number;
  space: BodySpace;
  /** Called after each chunk of a body above 64 KiB. */
  pace: () => void;
}

/**
 * The bytes of a body, or why they are refused: 413 beyond `limitBytes`, or what the space says. A refused body is dropped as it
 * comes, yet read: a client that is answered while it is still sending, and then cut off, may never get to see the answer. Past
 * 16 MiB the answer is given at once, and reading goes on only until the server's own timeouts or the client end it.
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
        refusal = tooLarge(limitBytes); // Also if it was refused for now before: it never gets in.
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

/** A large body in one piece, outside V8's heap and of its exact size: the operating system has it back as soon as it is let go. */
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
