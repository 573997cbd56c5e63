import { randomInt } from 'node:crypto';

/** Digits and letters of Crockford's base 32. It has no I, L, O and U, so that people do not confuse, for example, O with 0. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Makes one of about 10^12 random booking references, such as `7K2M-4QXF`, which people can easily read aloud. */
export function newNaturalId(): string {
  const group = () => Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${group()}-${group()}`;
}

/** Returns the four characters by which staff call out an order, from the random end of its id. They may repeat. */
export function callNumberOf(id: string): string {
  const bits = Number.parseInt(id.slice(-5), 16);
  return [15, 10, 5, 0].map((shift) => ALPHABET[(bits >> shift) & 31]).join('');
}

/** Returns the last five characters of the ids with this call number, in any case, or an empty text if no id can have it. */
export function idEndOf(callNumber: string): string {
  const digits = Array.from(callNumber.toUpperCase(), (character) => ALPHABET.indexOf(character));
  const isNumber = digits.length === 4 && !digits.includes(-1);
  return isNumber
    ? digits
        .reduce((sum, digit) => sum * 32 + digit)
        .toString(16)
        .padStart(5, '0')
    : '';
}
