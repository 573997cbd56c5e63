import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readCsv } from '#test/support/csv.ts';
import { csvOf } from './csv.ts';

/** Random texts of characters that have a special meaning in CSV or in a spreadsheet. */
const text = fc.string({
  unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', ';', "'", ' ', 'a', '1', 'é', '部', '🍕'),
  maxLength: 8,
});

describe('csvOf', () => {
  it('a CSV parser reads each cell of csvOf unchanged, but a text that begins like a formula has an apostrophe before it', () => {
    fc.assert(
      fc.property(fc.array(fc.array(text, { minLength: 2, maxLength: 4 }), { maxLength: 4 }), (rows) => {
        const cells = readCsv(csvOf(rows));
        assert.deepEqual(
          cells,
          rows.map((row) => row.map((cell) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell))),
        );
        assert.ok(cells.flat().every((cell) => !/^[=+\-@\t\r]/.test(cell)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('a number has no quotes and no apostrophe, also if it is negative, and null is an empty cell', () => {
    assert.equal(csvOf([[1, -2, null, '3.50', '-4', 'a"b']]), `1,-2,,3.50,'-4,"a""b"\r\n`);
  });
});
