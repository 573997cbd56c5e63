import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultIn } from './growth.ts';

const SIZES = [32, 64, 128, 256, 512, 1_024].map((kibibytes) => kibibytes * 1_024);

function points(msOf: (mebibytes: number) => number) {
  return SIZES.map((sizeBytes) => ({ sizeBytes, ms: msOf(sizeBytes / 1_024 ** 2) }));
}

describe('faultIn, which checks how response times grow with the size of the body', () => {
  it('faultIn returns null if the response time grows linearly or slightly faster than the body size, also with a fixed cost per call', () => {
    assert.equal(faultIn(points((size) => 1 + 200 * size)), null);
    assert.equal(faultIn(points((size) => 30 + 100 * size)), null);
    assert.equal(
      faultIn(points((size) => 60 * size * Math.log2(2 ** 20 * size))?.map((each) => ({ ...each, ms: each.ms / 10 }))),
      null,
    );
  });

  it('faultIn reports a response time that grows with the square of the body size', () => {
    assert.match(faultIn(points((size) => 1 + 250 * size ** 2)) ?? '', /power of (?:1\.[5-9]|2)/);
  });

  it('faultIn reports a response time that grows linearly but is too long for the body size', () => {
    assert.match(faultIn(points((size) => 2_600 * size)) ?? '', /too long for/);
  });

  it('faultIn reports a request that got no response', () => {
    assert.equal(faultIn([{ sizeBytes: 1_024 ** 2, ms: 40_000 }]), 'no response');
  });
});
