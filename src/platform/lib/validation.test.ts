import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { compileSchema, compileStripper, extentFor, findFaults, validationMessage } from './validation.ts';

/** The message that a value gets, or null if it is good. @param bytes the size of what was sent */
function messageFor(schema: Type.TSchema, value: unknown, whole = 'body', bytes = 0): string | null {
  const validator = compileSchema(schema);
  const extent = extentFor(bytes);
  return validator.isValid(value) ? null : validationMessage(validator.findFaults(value, extent), whole, extent);
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
      [{ kind: 5 }, 'kind: must be one of "a", "b"'],
      [{ items: [{ quantity: 0.5 }] }, 'items.0.quantity: must be a whole number, must be at least 1'],
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

  it('lists every fault of a body of up to 64 KiB, and the first 50 of a larger one', () => {
    const many = { name: 'a', items: Array.from({ length: 1_000 }, () => ({})), kind: 'c' };
    const all = messageFor(schema, many, 'body', 64 * 1024)?.split(' | ') ?? [];
    assert.equal(all.length, 1_001);
    assert.equal(all[0], 'items.0.quantity: is required');
    assert.equal(all.at(-1), 'kind: must be one of "a", "b"');
    const first = messageFor(schema, many, 'body', 64 * 1024 + 1)?.split(' | ') ?? [];
    assert.deepEqual(first.slice(0, 50), all.slice(0, 50));
    assert.deepEqual(first.slice(50), ['body: and more faults; correct these first']);
  });

  it('looks at no more entries of a large body than it tells faults of', () => {
    let looks = 0;
    const entry = {
      get quantity() {
        looks += 1;
        return 0;
      },
    };
    messageFor(schema, { name: 'a', items: Array.from({ length: 100_000 }, () => entry) }, 'body', 1024 * 1024);
    assert.ok(looks < 1_000, `${looks} looks`);
  });

  it('does not enter a list that is too long, at any depth', () => {
    const row = Type.Object({ cells: Type.Array(Type.Object({ a: Type.String() }), { maxItems: 2 }) });
    const table = Type.Object({ rows: Type.Array(row, { maxItems: 2 }) });
    assert.equal(messageFor(table, { rows: [{}, {}, {}] }), 'rows: must have at most 2 entries');
    assert.equal(
      messageFor(table, { rows: [{ cells: [{}, {}, {}] }, { cells: [{}] }] }),
      'rows.0.cells: must have at most 2 entries | rows.1.cells.0.a: is required',
    );
  });

  it('stays short however long the name of a field is', () => {
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
    const validator = compileSchema(Type.Object({ a: Type.Integer(), b: Type.Integer() }));
    assert.deepEqual(findFaults(validator, { a: 1, b: 2 }, 'document'), []);
    assert.deepEqual(findFaults(validator, { a: 'x' }, 'document'), ['b: is required', 'a: must be a whole number']);
    assert.deepEqual(findFaults(validator, 1, 'document'), ['document: must be an object']);
  });

  it('lists those in a list that is too long as well', () => {
    const validator = compileSchema(Type.Object({ a: Type.Array(Type.Integer(), { maxItems: 2 }) }));
    assert.deepEqual(findFaults(validator, { a: [1, 'x', 'y'] }, 'document'), [
      'a: must have at most 2 entries',
      'a.1: must be a whole number',
      'a.2: must be a whole number',
    ]);
  });
});

describe('compileStripper', () => {
  it('removes what the schema does not name, at any depth, and nothing else', () => {
    const item = Type.Object({
      id: Type.String(),
      price: Type.Optional(Type.Union([Type.Object({ a: Type.Integer() }), Type.Null()])),
    });
    const value = {
      items: [
        { id: 'x', junk: [{}] },
        { id: 'y', price: { a: 1, b: 2 } },
        { id: 'z', price: null },
      ],
      more: {},
    };
    compileStripper(Type.Object({ items: Type.Array(item) }))(value);
    assert.deepEqual(value, { items: [{ id: 'x' }, { id: 'y', price: { a: 1 } }, { id: 'z', price: null }] });
  });
});
