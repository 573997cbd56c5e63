import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNaturalId } from './natural-id.ts';

describe('newNaturalId', () => {
  const ids = Array.from({ length: 20_000 }, newNaturalId);

  it('is two groups of four, of letters and digits that are not mistaken for one another', () => {
    assert.ok(ids.every((id) => /^[0-9A-Z]{4}-[0-9A-Z]{4}$/.test(id)));
    assert.ok(!ids.some((id) => /[ILOU]/.test(id)));
  });

  it('uses every sign at every place, and in 20,000 draws does not repeat itself', () => {
    for (const place of [0, 1, 2, 3, 5, 6, 7, 8]) {
      assert.equal(new Set(ids.map((id) => id[place])).size, 32);
    }
    // Of 32^8 ids 20,000 hold a pair once in 5,500 times; two pairs are a broken generator.
    assert.ok(new Set(ids).size >= ids.length - 1);
  });
});
