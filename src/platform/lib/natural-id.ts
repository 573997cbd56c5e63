import { randomInt } from 'node:crypto';

/** Digits and letters of Crockford's base 32. It leaves out I, L, O and U, for example because people may read O as 0. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Makes a random booking reference, such as `7K2M-4QXF`. It is short, so that people can easily read it aloud. About 10^12 values exist.
 */
export function newNaturalId(): string {
  const group = () => Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${group()}-${group()}`;
}
