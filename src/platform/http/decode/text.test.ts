import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../errors.ts';
import { decodeJson } from './text.ts';

function refuses(json: string | Buffer, message: string | RegExp): void {
  assert.throws(
    () => decodeJson(Buffer.from(json)),
    (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.statusCode, 400);
      if (typeof message === 'string') {
        assert.equal(error.message, message);
      } else {
        assert.match(error.message, message);
      }
      return true;
    },
  );
}

const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('decodeJson', () => {
  it('decodeJson returns undefined for an empty body', () => {
    assert.equal(decodeJson(Buffer.alloc(0)), undefined);
  });

  it('decodeJson skips one byte order mark at the start of the body, and keeps a byte order mark inside a string', () => {
    assert.deepEqual(decodeJson(Buffer.from('\uFEFF{"a":"\uFEFF"}')), { a: '\uFEFF' });
    refuses('\uFEFF\uFEFF1', /not valid JSON/);
  });

  it('if the JSON is malformed, the error message of decodeJson does not quote the body', () => {
    refuses('{secret', 'body: is not valid JSON (at position 1)');
    refuses('"secret', /^body: is not valid JSON/);
    refuses(' ', 'body: is not valid JSON');
    refuses('{"secret":tru}', 'body: is not valid JSON');
  });

  it('decodeJson refuses bytes that are not UTF-8', () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      refuses(Buffer.from([0x22, ...bytes, 0x22]), 'body: contains bytes that are not UTF-8');
    }
  });

  it('decodeJson refuses U+0000 and half of a surrogate pair, in values and in keys, and the message names the field', () => {
    refuses('{"a":[{"b":"x\\u0000"}]}', 'a.0.b: contains U+0000');
    refuses('{"a":{"\\u0000":1}}', 'a: contains a key with U+0000');
    refuses('{"a":"\\ud83d"}', 'a: contains half of a surrogate pair');
    refuses('{"\\uDE00\\uD83D":1}', 'body: contains a key with half of a surrogate pair');
    refuses('"\\u0000"', 'body: contains U+0000');
    assert.equal(decodeJson(Buffer.from('"\\ud83d\\ude00"')), '😀');
    assert.equal(decodeJson(Buffer.from('"\\\\u0000"')), '\\u0000');
  });

  it('decodeJson refuses the keys __proto__ and constructor at any depth, also if they are written with \\u escapes', () => {
    refuses('{"__proto__":{"admin":true}}', 'body: must not contain the key __proto__');
    refuses('{"a":[{"\\u005f_proto_\\u005f":1}]}', 'a.0: must not contain the key __proto__');
    refuses('{"a":{"constructor":{}}}', 'a: must not contain the key constructor');
    assert.deepEqual(decodeJson(Buffer.from('["__proto__",{"toString":1}]')), ['__proto__', { toString: 1 }]);
  });

  it('decodeJson refuses numbers that are too large for a double', () => {
    refuses('{"quantity":1e309}', 'quantity: is a number that is too large');
    refuses(`[-${'9'.repeat(400)}]`, '0: is a number that is too large');
    assert.equal(decodeJson(Buffer.from('1e308')), 1e308);
  });

  it('decodeJson accepts 32 levels of nesting, and refuses 33 to 500,000 levels without a stack overflow', () => {
    assert.doesNotThrow(() => decodeJson(Buffer.from(nest(32))));
    for (const depth of [33, 10_000, 500_000]) {
      refuses(nest(depth), 'body: is nested deeper than 32 levels');
    }
    refuses('[{"a":'.repeat(10_000), /not valid JSON/);
  });

  it('the error message of decodeJson quotes at most 80 characters of a field name', () => {
    refuses(`{"${'k'.repeat(100_000)}":"\\u0000"}`, `${'k'.repeat(80)}…: contains U+0000`);
  });

  it('decodeJson returns the same value as JSON.parse for any JSON without forbidden keys and U+0000', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, stringUnit: 'grapheme' }), (json) => {
        fc.pre(!/__proto__|constructor|\0|\\u0000/.test(json));
        assert.deepEqual(decodeJson(Buffer.from(json)), JSON.parse(json));
      }),
    );
  });

  it('for random bytes, decodeJson throws no errors except ApiError', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\u', 'd800', '0000', '1e999', '__proto__', 'a');
    const bytes = fc.oneof(
      fc.uint8Array().map((array) => Buffer.from(array)),
      fc.array(pieces).map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, (body) => {
        try {
          decodeJson(body);
        } catch (error) {
          assert.ok(error instanceof ApiError);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
