import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from './ids.ts';
import { callNumberOf, idEndOf, newNaturalId } from './natural-id.ts';

describe('newNaturalId', () => {
  const ids = Array.from({ length: 20_000 }, newNaturalId);

  it('newNaturalId returns two groups of four digits or upper-case letters, without the letters I, L, O and U', () => {
    assert.ok(ids.every((id) => /^[0-9A-Z]{4}-[0-9A-Z]{4}$/.test(id)));
    assert.ok(!ids.some((id) => /[ILOU]/.test(id)));
  });

  it('in 20,000 ids from newNaturalId, each of the 32 characters occurs at every position, and at most one id is a duplicate', () => {
    for (const place of [0, 1, 2, 3, 5, 6, 7, 8]) {
      assert.equal(new Set(ids.map((id) => id[place])).size, 32);
    }
    // In one of about 5,500 runs, two of the 20,000 ids are equal by chance, because 32^8 ids are possible. Two pairs of equal ids mean
    // that the generator is broken.
    assert.ok(new Set(ids).size >= ids.length - 1);
  });
});

describe('callNumberOf', () => {
  it('callNumberOf returns the last 20 bits of an id as four characters of Crockford base 32, and idEndOf the end of the id', () => {
    for (const [end, number] of [
      ['00000', '0000'],
      ['fffff', 'ZZZZ'],
      ['1f240', '3WJ0'],
      ['00020', '0010'],
      ['84210', 'GGGG'],
    ] as const) {
      assert.equal(callNumberOf(`01a1fa44-1218-71c4-9e05-7a36d8b${end}`), number);
      assert.equal(idEndOf(number.toLowerCase()), end);
    }
    assert.deepEqual(['', 'ABC', 'ABCDE', 'ABCU', 'AB C'].map(idEndOf), ['', '', '', '', '']);
  });

  it('callNumberOf returns more than 1,980 different values for 2,000 ids that were made one after the other', () => {
    const numbers = Array.from({ length: 2_000 }, () => callNumberOf(newId()));
    assert.ok(new Set(numbers).size > 1_980, String(new Set(numbers).size));
  });
});
