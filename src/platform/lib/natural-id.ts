import { randomInt } from 'node:crypto';

/** Digits and letters of Crockford's base 32. It has no I, L, O and U, so that people do not confuse, for example, O with 0. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Makes a random booking reference, such as `7K2M-4QXF`. It is short, so that people can easily read it aloud. About 10^12 values exist.
 */
export function newNaturalId(): string {
  const group = () => Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${group()}-${group()}`;
}
