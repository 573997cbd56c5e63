import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  amountFaults,
  centsOf,
  currencyFault,
  exceedsMaximum,
  formatCents,
  formatMoney,
  MONEY_PATTERN,
  roundCents,
  unitOf,
} from './money.ts';

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

describe('amounts of a currency', () => {
  it('formatMoney rounds once, to the decimals of the currency, and so 1239.499 yen are 1239 and not 1240', () => {
    assert.equal(formatMoney('1239.499', 'JPY'), '1239.00');
    assert.equal(formatMoney('1239.5', 'JPY'), '1240.00');
    assert.equal(formatMoney('0.49', 'KRW'), '0.00');
    assert.equal(formatMoney('1240', 'CLP'), '1240.00');
    assert.equal(formatMoney('349.995', 'EUR'), '350.00');
  });

  it('unitOf is 100 cents for a currency without decimals, and 1 cent for all others and for unknown codes', () => {
    assert.deepEqual(['JPY', 'ISK', 'XAF', 'EUR', 'USD', 'KWD', 'ABC', ''].map(unitOf), [100, 100, 100, 1, 1, 1, 1, 1]);
    assert.deepEqual([roundCents(149, 100), roundCents(150, 100), roundCents(149, 1)], [100, 200, 149]);
  });

  it('each currency that a tenant may have is known to Intl', () => {
    const known = Intl.supportedValuesOf('currency');
    const refused = known.filter((code) => currencyFault(code) !== null);
    assert.ok(known.length - refused.length > 140, refused.join());
    assert.deepEqual(
      ['BHD', 'HRK', 'JOD', 'KWD', 'LYD', 'OMR', 'TND', 'XXX'].filter((code) => currencyFault(code) === null),
      [],
    );
  });

  it('amountFaults names each amount that has decimals which the currency does not have, and skips values that are no amounts', () => {
    const amounts = [
      ['a', '1.00'],
      ['b', 1.5],
      ['c', '1.01'],
      ['d', null],
      ['e', 'x'],
      ['f', undefined],
    ] as const;
    const fault = 'must have no decimals, because JPY has none';
    assert.deepEqual(amountFaults(amounts, 'JPY'), [`b: ${fault}`, `c: ${fault}`]);
    assert.deepEqual(amountFaults(amounts, 'EUR'), []);
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
