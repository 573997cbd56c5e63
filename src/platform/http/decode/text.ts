import { isUtf8 } from 'node:buffer';
import { DecodeError } from './decode-error.ts';

/**
 * Decodes UTF-8 bytes. Checks them first, because `toString` would silently replace bytes that are not UTF-8.
 * @throws DecodeError 400 if the bytes are not UTF-8
 */
export function decodeUtf8(bytes: Buffer, where: string): string {
  if (!isUtf8(bytes)) {
    throw new DecodeError(400, where, 'contains bytes that are not UTF-8');
  }
  return bytes.toString();
}

/**
 * Returns a description of the characters in the text that the database cannot store (decision 2). Returns undefined if it can store the
 * text.
 */
export function findTextFault(text: string): string | undefined {
  if (text.includes('\0')) {
    return 'U+0000';
  }
  return text.isWellFormed() ? undefined : 'half of a surrogate pair';
}

/**
 * Refuses a text that the database cannot store.
 * @throws DecodeError 400
 */
export function refuseBadText(text: string, where: string): void {
  const fault = findTextFault(text);
  if (fault !== undefined) {
    throw new DecodeError(400, where, `contains ${fault}`);
  }
}
