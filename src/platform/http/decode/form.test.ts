import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '#test/support/texts.ts';
import { ApiError } from '../../errors.ts';
import { decodeForm, decodeQuery, decodeUrlEncoded } from './form.ts';

const form = (text: string) => decodeForm(decodeUrlEncoded(text, 'body'));

function refuses(decode: () => unknown, message: string): void {
  assert.throws(decode, (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.statusCode, error.message], [400, message]);
    return true;
  });
}

type Nested = string | Nested[] | { [key: string]: Nested };

/** Notations for the name of a nested field. Each function appends one segment (`step`) to a name. */
const notations: Record<string, (name: string, step: string, isIndex: boolean) => string> = {
  brackets: (name, step) => `${name}[${step}]`,
  'indices in brackets, names after dots': (name, step, isIndex) => (isIndex ? `${name}[${step}]` : `${name}.${step}`),
  dots: (name, step) => `${name}.${step}`,
  'names directly after indices': (name, step, isIndex) =>
    isIndex || !name.endsWith(']') ? `${name}[${step}]` : `${name}${step}`,
};

function* encode(value: Nested, name: string, write: (typeof notations)[string]): Generator<[string, string]> {
  if (typeof value === 'string') {
    yield [name, value];
  } else {
    for (const [step, inner] of Object.entries(value)) {
      yield* encode(inner, name === '' ? step : write(name, step, Array.isArray(value)), write);
    }
  }
}

const key = fc
  .string({ minLength: 1, unit: 'grapheme' })
  .filter((text) => !/[[\].\0]|^\d+$|^(__proto__|constructor|prototype)$/.test(text));
const nested = fc.letrec<{ node: Nested; object: { [key: string]: Nested } }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 9, depthSize: 'small' },
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
    fc.array(tie('node'), { minLength: 1, maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(key, tie('node'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
}));

describe('decodeForm', () => {
  for (const [notation, write] of Object.entries(notations)) {
    it(`decodeForm restores any nested value from a form whose field names use the notation "${notation}"`, () => {
      fc.assert(
        fc.property(nested.object, (value) => {
          assert.deepEqual(decodeForm(encode(value, '', write)), value);
        }),
      );
    });
  }

  it('decodeUrlEncoded restores any fields that URLSearchParams has encoded', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }))),
        (fields) => {
          fc.pre(!fields.flat().some((text) => text.includes('\0') || !text.isWellFormed()));
          const encoded = new URLSearchParams(fields).toString();
          assert.deepEqual(decodeUrlEncoded(Buffer.from(encoded), 'body'), fields);
        },
      ),
    );
  });

  it('decodeForm sorts a list by its indices and removes the gaps', () => {
    assert.deepEqual(form('a[1000]=last&a[7]=mid&a[0]=first'), { a: ['first', 'mid', 'last'] });
  });

  it('decodeForm appends the value to the list if a field name ends with [], but refuses [] inside a name, such as a[][b]', () => {
    assert.deepEqual(form('a[]=x&a[5]=y&a[]=z'), { a: ['x', 'y', 'z'] });
    assert.deepEqual(form('a[5]=y&a[0]=x&a[]=z'), { a: ['x', 'y', 'z'] });
    refuses(() => form('a[][b]=x'), 'a[][b]: is not a well-formed field name');
  });

  it('decodeForm refuses a list index above 1,000, and also a field a[] that would append a value after index 1,000', () => {
    refuses(() => form('items[1001]=x'), 'items: has an index above 1000');
    refuses(() => form(`items[${'9'.repeat(400)}]=x`), 'items: has an index above 1000');
    refuses(() => form('a[1000]=x&a[]=y'), 'a: has an index above 1000');
  });

  it('decodeForm accepts ten levels of nesting below a field, and refuses more', () => {
    assert.doesNotThrow(() => form(`items${'[x]'.repeat(10)}=1`));
    refuses(() => form(`items${'[x]'.repeat(11)}=1`), 'items: is nested deeper than 10 levels');
    refuses(() => form(`items${'.x'.repeat(100_000)}=1`), 'items: is nested deeper than 10 levels');
  });

  it('decodeForm refuses a field that is given more than once, even if its name is written in two notations', () => {
    refuses(() => form('customer.name=A&customer[name]=B'), 'customer.name: is given more than once');
    refuses(() => form('a[1]=x&a[01]=y'), 'a.1: is given more than once');
  });

  it('decodeForm refuses a form whose field names use one field in two ways, for example as a text and as an object', () => {
    for (const text of ['a=1&a[b]=2', 'a[b]=2&a=1', 'a[0]=1&a[b]=2', 'a[b]=2&a[0]=1', 'a=1&a[]=2']) {
      refuses(() => form(text), 'a: is given in two forms, for example as a text and as an object. Send only one form');
    }
  });

  it('decodeForm refuses field names that are malformed or empty', () => {
    for (const name of ['a[', 'a]', 'a[b', 'a[b[c]]', '[a]', '.a', 'a.', 'a..b', 'a[0]]', 'a[0].[b]']) {
      refuses(() => form(`${name}=1`), `${name}: is not a well-formed field name`);
    }
    refuses(() => form('=1'), 'body: contains a field without a name');
  });

  it('decodeForm refuses the names __proto__, constructor and prototype at any level of nesting, and changes no prototype', () => {
    for (const bad of ['__proto__', 'constructor', 'prototype']) {
      for (const name of [bad, `${bad}[x]`, `a[${bad}]`, `a.${bad}.x`, `a[0]${bad}`]) {
        refuses(() => form(`${name}=1`), `${name}: must not contain the name ${bad}`);
      }
    }
    assert.deepEqual(form('toString=1&a[hasOwnProperty]=2'), { toString: '1', a: { hasOwnProperty: '2' } });
    assert.equal(({} as Record<string, unknown>)['x'], undefined);
  });

  it('for random texts, decodeForm and decodeQuery throw no errors except ApiError', () => {
    const piece = fc.constantFrom(...Array.from('ab07[].=&%+'), '%5B', '%00', '__proto__', '\ud800');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece).map((parts) => parts.join('')),
          fc.string({ unit: anyCharacter }),
        ),
        (text) => {
          for (const decode of [form, decodeQuery]) {
            try {
              decode(text);
            } catch (error) {
              assert.ok(error instanceof ApiError);
            }
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('decodeUrlEncoded', () => {
  it('decodeUrlEncoded decodes + as a space, reads a field without = as empty, and skips empty pieces between & signs', () => {
    assert.deepEqual(decodeUrlEncoded('a+b=c+%2B&&d&e==%3D&', 'body'), [
      ['a b', 'c +'],
      ['d', ''],
      ['e', '=='],
    ]);
    assert.deepEqual(decodeUrlEncoded(Buffer.alloc(0), 'body'), []);
  });

  it('decodeUrlEncoded refuses broken percent-encoding, bytes that are not UTF-8, and U+0000', () => {
    for (const value of ['%', '%4', '%zz', '%u0041', '%FF', '%C0%80', '%ED%A0%80', '%E2%82']) {
      refuses(() => decodeUrlEncoded(`a=${value}`, 'query'), 'a: is not valid percent-encoded UTF-8');
    }
    refuses(() => decodeUrlEncoded('%=1', 'query'), 'query: is not valid percent-encoded UTF-8');
    refuses(() => decodeUrlEncoded('a=x%00', 'body'), 'a: contains U+0000');
    refuses(() => decodeUrlEncoded(Buffer.from([0x61, 0x3d, 0xff]), 'body'), 'body: contains bytes that are not UTF-8');
  });

  it('decodeUrlEncoded accepts 20,000 fields, and refuses more', () => {
    assert.equal(decodeUrlEncoded('a&'.repeat(19_999) + 'a', 'body').length, 20_000);
    refuses(() => decodeUrlEncoded('a&'.repeat(500_000), 'body'), 'body: contains more than 20000 fields');
  });
});

describe('decodeQuery', () => {
  it('decodeQuery keeps brackets and dots as part of a parameter name', () => {
    assert.deepEqual({ ...decodeQuery('a[b]=1&c.d=2') }, { 'a[b]': '1', 'c.d': '2' });
  });

  it('decodeQuery returns an object that has no prototype', () => {
    const query = decodeQuery('__proto__=x');
    assert.equal(Object.getPrototypeOf(query), null);
    assert.equal(query['toString'], undefined);
    assert.deepEqual(Object.entries(query), [['__proto__', 'x']]);
  });

  it('decodeQuery refuses a repeated parameter, and characters that are neither ASCII nor percent-encoded', () => {
    refuses(() => decodeQuery('status=a&status=a'), 'status: is given more than once');
    refuses(() => decodeQuery('name=Zo\u00eb'), 'query: must be percent-encoded');
    assert.equal(decodeQuery('name=Zo%C3%AB')['name'], 'Zoë');
  });
});
