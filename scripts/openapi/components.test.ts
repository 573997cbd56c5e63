import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { Components } from './components.ts';

const Guest = Type.Object({ title: Type.String(), name: Type.String() }, { title: 'Guest' });

describe('the named schemas of a document', () => {
  it('a schema with a title becomes a component, and each use of it becomes a reference', () => {
    const components = new Components();
    const ref = { $ref: '#/components/schemas/Guest' };
    assert.deepEqual(components.refer(Guest), ref);
    assert.deepEqual(components.refer(Type.Array(Guest)), { type: 'array', items: ref });
    assert.deepEqual(components.refer(Type.Union([Guest, Type.Null()])), { anyOf: [ref, { type: 'null' }] });
    assert.deepEqual(components.refer(Type.Object({ guest: Guest })), {
      type: 'object',
      required: ['guest'],
      properties: { guest: ref },
    });
    assert.deepEqual(Object.keys(components.byName()), ['Guest']);
  });

  it('an object schema with a field named title does not become a component', () => {
    const components = new Components();
    const schema = components.refer(Type.Object({ title: Type.String() }));
    assert.deepEqual(schema, { type: 'object', required: ['title'], properties: { title: { type: 'string' } } });
    assert.deepEqual(components.byName(), {});
  });

  it('Components.refer moves OpenAPI keywords, for example format, from the field x-documented of a schema into the schema itself', () => {
    const components = new Components();
    const url = Type.String({ minLength: 1, [DOCUMENTED]: { format: 'uri' } });
    const shown = { type: 'string', minLength: 1, format: 'uri' };
    assert.deepEqual(components.refer(url), shown);
    assert.deepEqual(components.refer(Type.Union([url, Type.Null()])), { anyOf: [shown, { type: 'null' }] });
  });

  it('a component can refer to another component, and byName sorts the components by name', () => {
    const components = new Components();
    components.refer(Type.Object({ guest: Guest }, { title: 'Stay' }));
    components.refer(Type.Object({ id: Type.String() }, { title: 'Bed' }));
    const schemas = components.byName();
    assert.deepEqual(Object.keys(schemas), ['Bed', 'Guest', 'Stay']);
    assert.deepEqual(schemas['Stay']?.properties, { guest: { $ref: '#/components/schemas/Guest' } });
  });

  it('two equal schemas with the same title become one component, and two different schemas with the same title are an error', () => {
    const components = new Components();
    components.refer(Guest);
    components.refer(Type.Object({ title: Type.String(), name: Type.String() }, { title: 'Guest' }));
    assert.throws(() => components.refer(Type.Object({ id: Type.String() }, { title: 'Guest' })), /"Guest"/);
  });
});
