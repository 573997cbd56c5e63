import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { OperatorError } from '../errors.ts';

/**
 * Decodes the text of a file that a person has written. The text must be UTF-8. A byte order mark at its start is skipped.
 * @returns null for another encoding. Much of a text in UTF-16 is valid UTF-8 too, but with U+0000, which no text file needs.
 */
export function decodeText(bytes: Buffer): string | null {
  return isUtf8(bytes) && !bytes.includes(0) ? new TextDecoder().decode(bytes) : null;
}

/**
 * Reads a text file that a person has written. All such files are read with this function or with `decodeText`.
 * @param name how messages name the file, at the start of a sentence
 * @param maxBytes bound for a file that must be short, because a device such as /dev/zero has no end
 * @throws OperatorError if the file cannot be read, is too long or is not UTF-8
 */
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
