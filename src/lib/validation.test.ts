import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErrorObject } from 'ajv';
import Type from 'typebox';
import { compileSchema, findFaults, validationMessage } from './validation.ts';

/** The message that a value gets, or null where it is good. */
function messageFor(schema: Type.TSchema, value: unknown, whole = 'body'): string | null {
  const validate = compileSchema(schema);
  return validate(value) ? null : validationMessage(validate.errors as ErrorObject[], whole);
}

describe('the message of a value with faults', () => {
  const schema = Type.Object({
    name: Type.String({ minLength: 1, maxLength: 3 }),
    items: Type.Array(Type.Object({ quantity: Type.Integer({ minimum: 1, maximum: 9 }) }), { minItems: 1 }),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    kind: Type.Optional(Type.Enum(['a', 'b'], { type: 'string' })),
    at: Type.Optional(Type.String({ format: 'date' })),
    id: Type.Optional(Type.String({ format: 'uuid' })),
  });
  const good = { name: 'abc', items: [{ quantity: 1 }] };

  it('is absent for a good one, and for unknown fields', () => {
    assert.equal(messageFor(schema, { ...good, note: null, kind: 'a', at: '2024-02-29', unknown: { deep: 1 } }), null);
  });

  it('names each field by its path, all of them, joined', () => {
    assert.equal(
      messageFor(schema, { name: '', items: [{ quantity: 1 }, { quantity: 0 }, {}] }),
      'name: must not be empty | items.1.quantity: must be at least 1 | items.2.quantity: is required',
    );
  });

  it('names the whole where the whole is wrong', () => {
    for (const value of [[], 'text', 1, null]) {
      assert.equal(messageFor(schema, value), 'body: must be an object');
    }
    assert.equal(messageFor(schema, 1, 'query'), 'query: must be an object');
  });

  it('says once what a field must be', () => {
    const faults: [object, string][] = [
      [{ name: 1 }, 'name: must be a text'],
      [{ name: 'abcd' }, 'name: must have at most 3 characters'],
      [{ items: [] }, 'items: must have at least 1 entry'],
      [{ items: {} }, 'items: must be a list'],
      [{ items: [{ quantity: '2' }] }, 'items.0.quantity: must be a whole number'],
      [{ items: [{ quantity: 1.5 }] }, 'items.0.quantity: must be a whole number'],
      [{ items: [{ quantity: 10 }] }, 'items.0.quantity: must be at most 9'],
      [{ items: [null] }, 'items.0: must be an object'],
      [{ note: 1 }, 'note: must be a text'],
      [{ kind: 'c' }, 'kind: must be one of "a", "b"'],
      [{ at: '2023-02-29' }, 'at: must be a calendar day, YYYY-MM-DD'],
      [{ id: 'x' }, 'id: must be a UUID'],
    ];
    for (const [fault, message] of faults) {
      assert.equal(messageFor(schema, { ...good, ...fault }), message);
    }
  });

  it('counts code points, not halves of them', () => {
    assert.equal(messageFor(schema, { ...good, name: '🍕🍕🍕' }), null);
    assert.equal(messageFor(schema, { ...good, name: '🍕🍕🍕🍕' }), 'name: must have at most 3 characters');
  });

  it('converts nothing', () => {
    for (const value of ['true', 1, null, []]) {
      assert.equal(messageFor(Type.Object({ flag: Type.Boolean() }), { flag: value }), 'flag: must be true or false');
    }
    assert.equal(messageFor(Type.Object({ text: Type.String() }), { text: true }), 'text: must be a text');
  });

  it('stays short and quick, however many faults there are and however long their names', () => {
    const many = { name: 'a', items: Array.from({ length: 100_000 }, () => ({})) };
    const begin = performance.now();
    const message = messageFor(schema, many) ?? '';
    assert.ok(performance.now() - begin < 5_000);
    assert.equal(message.split(' | ').length, 51);
    assert.match(message, /\| body: and 99950 more faults$/);
    const named = Type.Record(Type.String(), Type.Integer());
    assert.ok((messageFor(named, { ['x'.repeat(100_000)]: 'text' }) ?? '').length < 200);
  });

  it('spells a field’s name as it is, slashes and tildes too', () => {
    const named = Type.Record(Type.String(), Type.Integer());
    assert.equal(messageFor(named, { 'a/b~c~1': 'text' }), 'a/b~c~1: must be a whole number');
  });
});

describe('findFaults', () => {
  it('lists every fault, each as a text of its own', () => {
    const validate = compileSchema(Type.Object({ a: Type.Integer(), b: Type.Integer() }));
    assert.deepEqual(findFaults(validate, { a: 1, b: 2 }, 'document'), []);
    assert.deepEqual(findFaults(validate, { a: 'x' }, 'document'), ['b: is required', 'a: must be a whole number']);
    assert.deepEqual(findFaults(validate, 1, 'document'), ['document: must be an object']);
  });
});
