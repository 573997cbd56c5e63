import fc from 'fast-check';

/** Number of code points from U+D800 to U+DFFF. They are surrogates, which are no characters. */
const SURROGATES = 0x800;

/**
 * Generates any single character of Unicode. As the unit of `fc.string`, it has the same values as the unit `binary`. But that unit needs a
 * second of processor time for a table of all characters, which stays in memory.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + SURROGATES));
