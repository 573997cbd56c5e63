import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isEqualInConstantTime } from './constant-time.ts';

describe('isEqualInConstantTime', () => {
  it('says what === says of any two texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        assert.equal(isEqualInConstantTime(a, b), a === b);
        assert.equal(isEqualInConstantTime(a, `${a}${b}`), b === '');
        assert.equal(isEqualInConstantTime(`${a}${b}`, a), b === '');
      }),
    );
  });

  it('finds one other character at any place', () => {
    const text = 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=';
    assert.equal(isEqualInConstantTime(text, Buffer.from(text).toString()), true);
    for (let index = 0; index < text.length; index += 1) {
      const other = text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ 1) + text.slice(index + 1);
      assert.equal(isEqualInConstantTime(text, other), false, other);
    }
  });
});
