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

/**
 * Returns the four characters by which staff call out an order, such as `7K2M`. They are the last 20 bits of the id in base 32. These bits
 * are random, so two orders may have the same four characters.
 * @param id UUIDv7
 */
export function callNumberOf(id: string): string {
  const bits = Number.parseInt(id.slice(-5), 16);
  return [15, 10, 5, 0].map((shift) => ALPHABET[(bits >> shift) & 31]).join('');
}
