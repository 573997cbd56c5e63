import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNaturalId } from './natural-id.ts';

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
