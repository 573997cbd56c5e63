import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digitsOf, trimmed } from './unicode.ts';

const ALL = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

describe('digits', () => {
  it('digitsOf reads each decimal digit of Unicode as its value, and leaves out all other characters', () => {
    const decimal = ALL.filter((character) => /\p{Nd}/u.test(character));
    const values = decimal.map(digitsOf).join('');
    assert.equal(values, '0123456789'.repeat(decimal.length / 10));
    assert.equal(digitsOf(ALL.filter((character) => !/\p{Nd}/u.test(character)).join('')), '');
  });
});

describe('trimmed', () => {
  it('trimmed removes each space and format character at both ends', () => {
    const blank = ALL.filter((character) => /[\s\p{White_Space}\p{Cf}]/u.test(character));
    assert.equal(trimmed(`${blank.join('')}Ana Silva`), 'Ana Silva');
    const ends = blank.filter((character) => !/[\u{E0020}-\u{E007F}]/u.test(character));
    assert.equal(trimmed(`Ana Silva${ends.join('')}`), 'Ana Silva');
    assert.equal(trimmed(blank.join('')), '');
  });

  it('trimmed keeps such characters inside a text, and whole emoji', () => {
    const flag = '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}';
    for (const text of ['می\u200Cخواهم', '👨\u200D👩\u200D👧', 'a\u00A0b', '❤\uFE0F', flag, 'x\ny', '']) {
      assert.equal(trimmed(` ${text}\u200F`), text);
    }
  });

  it('trimmed takes a time that grows only with the length of the text', () => {
    const inner = `a${' '.repeat(1_000_000)}b`;
    assert.equal(trimmed(`${inner} `), inner);
    assert.equal(trimmed(' '.repeat(1_000_000)), '');
  });
});
