import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { centsOf, exceedsMaximum, formatCents, formatMoney, MONEY_PATTERN } from './money.ts';

/** Writes the digits as a decimal text with `places` decimals. For example, the digits 12345 with 3 decimals give 12.345. */
function decimal(digits: bigint, places: number): string {
  const text = digits.toString().padStart(places + 1, '0');
  return `${text.slice(0, -places)}.${text.slice(-places)}`;
}

describe('formatMoney', () => {
  it('formatMoney returns two decimals and rounds half up, with the same result as exact integer arithmetic', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 16n }), fc.integer({ min: 3, max: 8 }), (digits, places) => {
        const unit = 10n ** BigInt(places - 2);
        const cents = (digits + unit / 2n) / unit;
        assert.equal(formatMoney(decimal(digits, places)), decimal(cents, 2));
      }),
    );
  });

  it('formatMoney and centsOf are exact for amounts such as 1.005, where floating point would give a wrong cent', () => {
    assert.equal(formatMoney('1.005'), '1.01');
    assert.equal(formatMoney('2.675'), '2.68');
    assert.equal(formatCents(centsOf('0.1') + centsOf('0.2')), '0.30');
    assert.equal(formatMoney('1.995'), '2.00');
    assert.equal(formatMoney('0'), '0.00');
    assert.equal(formatMoney('0.01'), '0.01');
    assert.equal(formatMoney('7'), '7.00');
    assert.equal(formatMoney('7.5'), '7.50');
    assert.equal(formatMoney('99999999.99'), '99999999.99');
  });
});

describe('centsOf and formatCents', () => {
  it('centsOf converts a text with two decimals to cents, and formatCents converts the cents back to the same text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_999_999_999n }), (cents) => {
        assert.equal(centsOf(decimal(cents, 2)), Number(cents));
        assert.equal(formatCents(Number(cents)), decimal(cents, 2));
      }),
    );
  });
});

describe('MONEY_PATTERN', () => {
  const pattern = new RegExp(MONEY_PATTERN, 'u');

  it('MONEY_PATTERN matches 1 to 8 integer digits with at most 2 decimals', () => {
    for (const text of ['0', '00', '1', '1.5', '1.50', '99999999', '99999999.99', '0.01']) {
      assert.match(text, pattern);
    }
  });

  it('MONEY_PATTERN does not match signs, exponents, non-ASCII digits, spaces and too many digits', () => {
    for (const text of [
      '',
      '.5',
      '1.',
      '1.234',
      '123456789',
      '-1',
      '+1',
      '1e5',
      '1,50',
      ' 1',
      '1 ',
      '1\n',
      '١',
      '0x1',
      'NaN',
    ]) {
      assert.doesNotMatch(text, pattern);
    }
  });
});

describe('exceedsMaximum', () => {
  it('exceedsMaximum is false for 99,999,999.99 and true for one cent more', () => {
    assert.equal(exceedsMaximum(centsOf('99999999.99')), false);
    assert.equal(exceedsMaximum(centsOf('100000000')), true);
    assert.equal(exceedsMaximum(centsOf('99999999.995')), true);
  });
});
