import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { OperatorError } from '../errors.ts';

/** Decodes UTF-8, without a byte order mark. Null for another encoding. UTF-16 may be valid UTF-8 too, but with U+0000. */
export function decodeText(bytes: Buffer): string | null {
  return isUtf8(bytes) && !bytes.includes(0) ? new TextDecoder().decode(bytes) : null;
}

/** Reads a text file that a person has written. A device such as /dev/zero has no end, hence `maxBytes`. @throws OperatorError */
export async function readTextFile(path: string, name = path, maxBytes = Number.POSITIVE_INFINITY): Promise<string> {
  const bytes = await buffer(createReadStream(path, { end: maxBytes })).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`${name} cannot be read (${error.code}). Check the path and its permissions.`);
  });
  if (bytes.length > maxBytes) {
    throw new OperatorError(`${name} is longer than ${maxBytes} bytes. Check the path.`);
  }
  const text = decodeText(bytes);
  if (text === null) {
    throw new OperatorError(`${name} is not UTF-8 text. Check the path, or save the file with the encoding UTF-8.`);
  }
  return text;
}
