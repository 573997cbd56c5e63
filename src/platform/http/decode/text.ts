import { isUtf8 } from 'node:buffer';
import { DecodeError } from './decode-error.ts';

/** The text of these bytes. Throws `DecodeError` (400) on bytes that are not UTF-8, which `toString` would patch up. */
export function decodeUtf8(bytes: Buffer, where: string): string {
  if (!isUtf8(bytes)) {
    throw new DecodeError(400, where, 'holds bytes that are not UTF-8');
  }
  return bytes.toString();
}

/** What the database could not store in this text (decision 2), or undefined where it is sound. */
export function findTextFault(text: string): string | undefined {
  if (text.includes('\0')) {
    return 'U+0000';
  }
  return text.isWellFormed() ? undefined : 'half of a surrogate pair';
}

/** Throws `DecodeError` (400) on text with such a fault. */
export function refuseBadText(text: string, where: string): void {
  const fault = findTextFault(text);
  if (fault !== undefined) {
    throw new DecodeError(400, where, `holds ${fault}`);
  }
}
