import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultIn } from './growth.ts';

const SIZES = [32, 64, 128, 256, 512, 1_024].map((kibibytes) => kibibytes * 1_024);

function points(msOf: (mebibytes: number) => number) {
  return SIZES.map((sizeBytes) => ({ sizeBytes, ms: msOf(sizeBytes / 1_024 ** 2) }));
}

describe('growth of time', () => {
  it('as the size: nothing is wrong, whatever every call costs beside', () => {
    assert.equal(faultIn(points((size) => 1 + 200 * size)), null);
    assert.equal(faultIn(points((size) => 30 + 100 * size)), null);
    assert.equal(
      faultIn(points((size) => 60 * size * Math.log2(2 ** 20 * size))?.map((each) => ({ ...each, ms: each.ms / 10 }))),
      null,
    );
  });

  it('as the square of the size', () => {
    assert.match(faultIn(points((size) => 1 + 250 * size ** 2)) ?? '', /power of (?:1\.[5-9]|2)/);
  });

  it('as the size, and too long for it', () => {
    assert.match(faultIn(points((size) => 2_600 * size)) ?? '', /too long for/);
  });

  it('no answer', () => {
    assert.equal(faultIn([{ sizeBytes: 1_024 ** 2, ms: 10_000 }]), 'no answer');
  });
});
