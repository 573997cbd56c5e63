import { randomInt } from 'node:crypto';

/** Crockford's base 32: no letter that is heard or read as a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A booking reference for people, such as `7K2M-4QXF`: short, readable aloud, one of a million million. */
export function newNaturalId(): string {
  const group = () => Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${group()}-${group()}`;
}
