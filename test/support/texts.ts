import fc from 'fast-check';

const SURROGATES = 0x800;

/**
 * Generates any single character of Unicode, for use as the `unit` of `fc.string`. The unit `binary` of fast-check generates the same
 * characters. But it needs a second of processor time for a table of all characters, which stays in memory.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + SURROGATES));
