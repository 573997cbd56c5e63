import fc from 'fast-check';

const SURROGATES = 0x800;

/** Any character of Unicode, as the `unit` of `fc.string`. The unit `binary` of fast-check takes a second for a table. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + SURROGATES));
