import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { compileSchema, findFaults, invalidValue } from './validation.ts';

function messageFor(schema: Type.TSchema, value: unknown, whole = 'body'): string | null {
  const validator = compileSchema(schema);
  return validator.isValid(value) ? null : invalidValue(validator, value, whole).message;
}

describe('invalidValue', () => {
  const schema = Type.Object({
    name: Type.String({ minLength: 1, maxLength: 3 }),
    items: Type.Array(Type.Object({ quantity: Type.Integer({ minimum: 1, maximum: 9 }) }), { minItems: 1 }),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    kind: Type.Optional(Type.Enum(['a', 'b'], { type: 'string' })),
    at: Type.Optional(Type.String({ format: 'date' })),
    id: Type.Optional(Type.String({ format: 'uuid' })),
  });
  const good = { name: 'abc', items: [{ quantity: 1 }] };

  it('a valid value has no error message, even if it has unknown fields', () => {
    assert.equal(messageFor(schema, { ...good, note: null, kind: 'a', at: '2024-02-29', unknown: { deep: 1 } }), null);
  });

  it('the error message lists every invalid field by its path, and separates the fields by " | "', () => {
    assert.equal(
      messageFor(schema, { name: '', items: [{ quantity: 1 }, { quantity: 0 }, {}] }),
      'name: must not be empty | items.1.quantity: must be at least 1 | items.2.quantity: is required',
    );
  });

  it('the error message names the body or the query if the whole value has the wrong type', () => {
    for (const value of [[], 'text', 1, null]) {
      assert.equal(messageFor(schema, value), 'body: must be an object');
    }
    assert.equal(messageFor(schema, 1, 'query'), 'query: must be an object');
  });

  it('the error message names an invalid field once, and says which value the field must have', () => {
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

  it('for null in a field that is not required, the error message says that the field may be left out', () => {
    const inner = Type.Object({ a: Type.String(), b: Type.Optional(Type.String()) });
    const outer = Type.Object({
      name: Type.String(),
      kind: Type.Optional(Type.Enum(['a', 'b'])),
      only: Type.Optional(Type.Enum(['a'])),
      inner: Type.Optional(inner),
      list: Type.Optional(Type.Array(inner)),
      either: Type.Optional(Type.Union([inner, Type.Null()])),
      named: Type.Optional(Type.Record(Type.String(), Type.Integer())),
    });
    const faults: [object, string][] = [
      [{ kind: null }, 'kind: must be one of "a", "b", or leave the field out'],
      [{ only: null }, 'only: must be "a", or leave the field out'],
      [{ inner: null }, 'inner: must be an object, or leave the field out'],
      [{ inner: { a: 'a', b: null } }, 'inner.b: must be a text, or leave the field out'],
      [{ list: [{ a: 'a', b: null }] }, 'list.0.b: must be a text, or leave the field out'],
      [{ either: { a: 'a', b: null } }, 'either.b: must be a text, or leave the field out'],
      [{ name: null }, 'name: must be a text'],
      [{ inner: { a: null } }, 'inner.a: must be a text'],
      [{ list: [null] }, 'list.0: must be an object'],
      [{ named: { x: null } }, 'named.x: must be a whole number'],
      [{ kind: 1 }, 'kind: must be one of "a", "b"'],
    ];
    for (const [fault, message] of faults) {
      assert.equal(messageFor(outer, { name: 'a', ...fault }), message);
    }
  });

  it('a time is refused if its day does not exist, its seconds are 60, its UTC year is outside 1 to 9999, or its time zone is missing', () => {
    const time = Type.Object({ at: Type.String({ format: 'date-time' }) });
    for (const at of ['2026-11-20T18:42:07Z', '2026-11-20T18:42:07.5+01:00', '0001-01-01T00:00:00Z']) {
      assert.equal(messageFor(time, { at }), null, at);
    }
    for (const at of [
      '2026-11-20',
      '2026-11-20T18:42:07',
      '2026-02-30T18:42:07Z',
      '2016-12-31T23:59:60Z',
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00+01:00',
      '9999-12-31T23:59:59-01:00',
      '',
    ]) {
      assert.equal(messageFor(time, { at }), 'at: must be a time with a time zone, such as 2026-11-20T18:42:07Z', at);
    }
  });

  it('the length of a text is counted in code points, not in UTF-16 code units', () => {
    assert.equal(messageFor(schema, { ...good, name: '🍕🍕🍕' }), null);
    assert.equal(messageFor(schema, { ...good, name: '🍕🍕🍕🍕' }), 'name: must have at most 3 characters');
  });

  it('a value of the wrong type is refused and not converted', () => {
    for (const value of ['true', 1, null, []]) {
      assert.equal(messageFor(Type.Object({ flag: Type.Boolean() }), { flag: value }), 'flag: must be true or false');
    }
    assert.equal(messageFor(Type.Object({ text: Type.String() }), { text: true }), 'text: must be a text');
  });

  it('the error message lists the first 50 faults', () => {
    const many = { name: 'a', items: Array.from({ length: 1_000 }, () => ({})) };
    const message = messageFor(schema, many)?.split(' | ') ?? [];
    assert.deepEqual(
      message,
      Array.from({ length: 50 }, (_, index) => `items.${index}.quantity: is required`).concat(
        'body: has more faults, which are shown after you correct these',
      ),
    );
  });

  it('the search for faults in a large body reads fewer than 1,000 entries of a list of 100,000 invalid entries', () => {
    let reads = 0;
    const entry = {
      get quantity() {
        reads += 1;
        return 0;
      },
    };
    messageFor(schema, { name: 'a', items: Array.from({ length: 100_000 }, () => entry) });
    assert.ok(reads < 1_000, `${reads} reads of the field quantity`);
  });

  it('if a list is too long, the error message does not list the faults of its entries, even if this list is inside another list', () => {
    const row = Type.Object({ cells: Type.Array(Type.Object({ a: Type.String() }), { maxItems: 2 }) });
    const table = Type.Object({ rows: Type.Array(row, { maxItems: 2 }) });
    assert.equal(messageFor(table, { rows: [{}, {}, {}] }), 'rows: must have at most 2 entries');
    assert.equal(
      messageFor(table, { rows: [{ cells: [{}, {}, {}] }, { cells: [{}] }] }),
      'rows.0.cells: must have at most 2 entries | rows.1.cells.0.a: is required',
    );
  });

  it('the error message is shorter than 200 characters, even if the name of the field has 100,000 characters', () => {
    const named = Type.Record(Type.String(), Type.Integer());
    assert.ok((messageFor(named, { ['x'.repeat(100_000)]: 'text' }) ?? '').length < 200);
  });

  it('the error message keeps slashes and tildes in the name of a field', () => {
    const named = Type.Record(Type.String(), Type.Integer());
    assert.equal(messageFor(named, { 'a/b~c~1': 'text' }), 'a/b~c~1: must be a whole number');
  });
});

describe('findFaults', () => {
  it('findFaults returns one text for each fault, and an empty list for a valid value', () => {
    const validator = compileSchema(Type.Object({ a: Type.Integer(), b: Type.Integer() }));
    assert.deepEqual(findFaults(validator, { a: 1, b: 2 }, 'document'), []);
    assert.deepEqual(findFaults(validator, { a: 'x' }, 'document'), ['b: is required', 'a: must be a whole number']);
    assert.deepEqual(findFaults(validator, 1, 'document'), ['document: must be an object']);
  });

  it('findFaults also returns the faults of the entries of a list that is too long', () => {
    const validator = compileSchema(Type.Object({ a: Type.Array(Type.Integer(), { maxItems: 2 }) }));
    assert.deepEqual(findFaults(validator, { a: [1, 'x', 'y'] }, 'document'), [
      'a: must have at most 2 entries',
      'a.1: must be a whole number',
      'a.2: must be a whole number',
    ]);
  });
});
