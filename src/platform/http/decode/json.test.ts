import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DecodeError } from './decode-error.ts';
import { decodeJson } from './json.ts';

function refuses(json: string | Buffer, message: string | RegExp): void {
  assert.throws(
    () => decodeJson(Buffer.from(json)),
    (error) => {
      assert.ok(error instanceof DecodeError);
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
  it('reads an empty body as no value', () => {
    assert.equal(decodeJson(Buffer.alloc(0)), undefined);
  });

  it('skips a leading byte order mark, and only a leading one', () => {
    assert.deepEqual(decodeJson(Buffer.from('\uFEFF{"a":"\uFEFF"}')), { a: '\uFEFF' });
    refuses('\uFEFF\uFEFF1', /not valid JSON/);
  });

  it('tells where malformed JSON is malformed, without quoting it', () => {
    refuses('{secret', 'body: is not valid JSON (at position 1)');
    refuses('"secret', /^body: is not valid JSON/);
    refuses(' ', 'body: is not valid JSON');
    refuses('{"secret":tru}', 'body: is not valid JSON');
  });

  it('refuses bytes that are not UTF-8', () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      refuses(Buffer.from([0x22, ...bytes, 0x22]), 'body: holds bytes that are not UTF-8');
    }
  });

  it('refuses U+0000 and lone surrogates, in values and in keys, and names the field', () => {
    refuses('{"a":[{"b":"x\\u0000"}]}', 'a.0.b: holds U+0000');
    refuses('{"a":{"\\u0000":1}}', 'a: holds a key with U+0000');
    refuses('{"a":"\\ud83d"}', 'a: holds half of a surrogate pair');
    refuses('{"\\uDE00\\uD83D":1}', 'body: holds a key with half of a surrogate pair');
    refuses('"\\u0000"', 'body: holds U+0000');
    assert.equal(decodeJson(Buffer.from('"\\ud83d\\ude00"')), '😀');
    assert.equal(decodeJson(Buffer.from('"\\\\u0000"')), '\\u0000');
  });

  it('refuses __proto__ and constructor as keys at any depth, however they are spelt', () => {
    refuses('{"__proto__":{"admin":true}}', 'body: must not hold the key __proto__');
    refuses('{"a":[{"\\u005f_proto_\\u005f":1}]}', 'a.0: must not hold the key __proto__');
    refuses('{"a":{"constructor":{}}}', 'a: must not hold the key constructor');
    assert.deepEqual(decodeJson(Buffer.from('["__proto__",{"toString":1}]')), ['__proto__', { toString: 1 }]);
  });

  it('refuses numbers that no double can hold', () => {
    refuses('{"quantity":1e309}', 'quantity: is too large a number');
    refuses(`[-${'9'.repeat(400)}]`, '0: is too large a number');
    assert.equal(decodeJson(Buffer.from('1e308')), 1e308);
  });

  it('takes 32 levels of nesting, and refuses more without running out of stack', () => {
    assert.doesNotThrow(() => decodeJson(Buffer.from(nest(32))));
    for (const depth of [33, 10_000, 500_000]) {
      refuses(nest(depth), 'body: nested deeper than 32 levels');
    }
    refuses('[{"a":'.repeat(10_000), /not valid JSON/);
  });

  it('never quotes more than 80 characters of a name', () => {
    refuses(`{"${'k'.repeat(100_000)}":"\\u0000"}`, `${'k'.repeat(80)}…: holds U+0000`);
  });

  it('agrees with JSON.parse on everything else', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, stringUnit: 'grapheme' }), (json) => {
        fc.pre(!/__proto__|constructor|\0|\\u0000/.test(json));
        assert.deepEqual(decodeJson(Buffer.from(json)), JSON.parse(json));
      }),
    );
  });

  it('throws nothing but DecodeError, whatever the bytes', () => {
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
          assert.ok(error instanceof DecodeError);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
