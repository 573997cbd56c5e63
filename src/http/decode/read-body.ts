import type { Readable } from 'node:stream';
import { DecodeError } from './decode-error.ts';

export const TOO_LARGE = Symbol('the body is larger than its limit');

/** What a body that is `TOO_LARGE` is answered with. */
export function tooLarge(limitBytes: number): DecodeError {
  return new DecodeError(413, 'body', `is larger than ${limitBytes} bytes`);
}

/** How far a body may run past its limit before the answer stops waiting for its end. */
const DRAIN_BYTES = 16 * 1024 * 1024;

/**
 * The bytes of a body, or `TOO_LARGE`. What goes beyond `limitBytes` is dropped as it comes, yet read: a client that is
 * answered while it is still sending, and then cut off, may never get to see the answer. Past 16 MiB more the answer is
 * given at once, and reading goes on only until the server's own timeouts or the client end it.
 * Throws `DecodeError` (400) where the client leaves before the end.
 */
export function readBody(payload: Readable, limitBytes: number): Promise<Buffer | typeof TOO_LARGE> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    payload.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) {
        chunks.push(chunk);
      }
      if (sizeBytes > limitBytes + DRAIN_BYTES) {
        resolve(TOO_LARGE);
      }
    });
    payload.on('end', () => resolve(sizeBytes > limitBytes ? TOO_LARGE : Buffer.concat(chunks)));
    payload.on('error', () => reject(new DecodeError(400, 'body', 'ends before it is complete')));
  });
}
