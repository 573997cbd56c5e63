import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { convertText } from './convert.ts';

describe('convertText', () => {
  it('convertText converts a text to an integer only if it consists of digits, with or without a minus sign', () => {
    for (const [text, number] of [
      ['2', 2],
      ['0', 0],
      ['-7', -7],
      ['2147483648', 2_147_483_648],
    ] as const) {
      assert.equal(convertText(text, Type.Integer()), number);
    }
    for (const text of ['2.0', '1e3', ' 2', '2 ', '0x10', '', '+1', '007', '1_000', '٣', 'NaN', '9'.repeat(400)]) {
      assert.equal(convertText(text, Type.Integer()), text);
    }
  });

  it('convertText converts a text to a number only if it is a decimal without an exponent, such as 12.50', () => {
    assert.equal(convertText('12.50', Type.Number()), 12.5);
    for (const text of ['.5', '5.', '1e3', 'Infinity', '1,5', '']) {
      assert.equal(convertText(text, Type.Number()), text);
    }
  });

  it('convertText converts only the texts "true" and "false" to booleans', () => {
    assert.equal(convertText('true', Type.Boolean()), true);
    assert.equal(convertText('false', Type.Boolean()), false);
    for (const text of ['True', '1', 'on', 'yes', '']) {
      assert.equal(convertText(text, Type.Boolean()), text);
    }
  });

  it('convertText does not convert a text if the schema allows a string', () => {
    const schemas = [
      Type.String(),
      Type.Union([Type.Number(), Type.String()]),
      Type.Union([Type.String(), Type.Null()]),
      Type.Enum(['1', 'true']),
      Type.Literal('1'),
      Type.Unknown(),
    ];
    for (const schema of schemas) {
      for (const text of ['', '1', 'true', '{}', 'null']) {
        assert.equal(convertText(text, schema), text);
      }
    }
  });

  it('convertText converts an empty text to null if the schema allows null but no string', () => {
    assert.equal(convertText('', Type.Union([Type.Integer(), Type.Null()])), null);
    assert.equal(convertText('', { type: ['array', 'null'] }), null);
    assert.equal(convertText('3', Type.Union([Type.Integer(), Type.Null()])), 3);
    assert.equal(convertText('', Type.Integer()), '');
  });

  it('convertText converts texts inside lists and objects, but not in fields that the schema does not name', () => {
    const schema = Type.Object({ items: Type.Array(Type.Object({ id: Type.String(), quantity: Type.Integer() })) });
    assert.deepEqual(convertText({ items: [{ id: '1', quantity: '2', extra: '3' }], toString: '4' }, schema), {
      items: [{ id: '1', quantity: 2, extra: '3' }],
      toString: '4',
    });
  });

  it('convertText parses a JSON text if the schema expects a list or an object, and does not convert the values inside that JSON', () => {
    const schema = Type.Object({
      items: Type.Array(Type.Object({ quantity: Type.Integer() })),
      customer: Type.Object({}),
    });
    assert.deepEqual(convertText({ items: '[{"quantity":"2"}]', customer: '{"name":"Zoë"}' }, schema), {
      items: [{ quantity: '2' }],
      customer: { name: 'Zoë' },
    });
  });

  it('convertText does not change a JSON text that is malformed, has forbidden content, or has another type than the schema', () => {
    for (const text of ['[', '{"__proto__":1}', '"x"', '5', '{}', '["\\u0000"]', '[1e309]', '']) {
      assert.equal(convertText(text, Type.Array(Type.Unknown())), text);
    }
    assert.equal(convertText('null', Type.Object({})), 'null');
  });

  it('convertText does not convert a single value or an object to a list, and does not convert a list to an object', () => {
    assert.equal(convertText('a', Type.Array(Type.String())), 'a');
    assert.deepEqual(convertText({ id: '1' }, Type.Array(Type.Object({ id: Type.Integer() }))), { id: '1' });
    assert.deepEqual(convertText(['1'], Type.Object({})), ['1']);
  });
});
