import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatMoney } from './money.ts';
import { isPrice } from './price.ts';

describe('isPrice', () => {
  const thousandths = fc.integer({ min: -1_000, max: 200_000_000_000 }).map((count) => count / 1_000);

  it('isPrice accepts every amount of whole cents, as a number and as a text, and formatMoney formats it without a rounding error', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999_999_999 }), (cents) => {
        const digits = String(cents).padStart(3, '0');
        const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
        for (const price of [text, Number(text), cents / 100]) {
          assert.ok(isPrice(price), String(price));
          assert.equal(formatMoney(String(price)), text);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('isPrice accepts a number only if it has at most two decimals, is not negative and is at most 99,999,999.99', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), thousandths), (price) => {
        const [whole = '', decimals = ''] = String(price).split('.');
        const isAmount = price >= 0 && price <= 99_999_999.99 && /^\d+$/.test(whole) && /^\d{0,2}$/.test(decimals);
        assert.equal(isPrice(price), isAmount);
      }),
      { numRuns: 2_000 },
    );
  });

  it('isPrice refuses the texts "" and "-0", NaN, Infinity, and all values that are neither a number nor a text', () => {
    const others = [null, undefined, true, {}, [], [1], 1n, new Date(0), '', '-0', 'NaN', Number.NaN, Infinity];
    assert.deepEqual(others.filter(isPrice), []);
    assert.ok(isPrice(-0), 'the number -0 is accepted, because JSON allows it and it equals 0');
  });
});
