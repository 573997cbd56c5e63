import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import { serializerOf } from './compilers.ts';
import { readDocuments, resolved } from '#test/support/openapi-documents.ts';

interface Documented {
  name: string;
  schema: Schema;
  example: unknown;
}

/** Returns the schema and one example of each JSON response in the OpenAPI documents. */
function documentedResponses(): Documented[] {
  return readDocuments().flatMap(([, document]) =>
    Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).flatMap(({ operationId, responses }) =>
        Object.entries(responses).flatMap(([status, { content }]) => {
          const { schema, examples = {} } = content?.['application/json'] ?? {};
          const [example] = Object.values(examples);
          return schema === undefined || example === undefined
            ? []
            : [
                {
                  name: `${operationId} ${status}`,
                  schema: resolved(schema, document) as Schema,
                  example: example.value,
                },
              ];
        }),
      ),
    ),
  );
}

function withNulls(value: unknown, schema: Schema): unknown {
  const { anyOf = [], items, properties = {} } = schema as { anyOf?: Schema[]; items?: Schema; properties?: object };
  if (anyOf.some((each) => (each as { type?: unknown }).type === 'null')) {
    return null;
  }
  const [first] = anyOf;
  if (first !== undefined) {
    return withNulls(value, anyOf.find((each) => Array.isArray(value) === 'items' in each) ?? first);
  }
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((each) => withNulls(each, items));
  }
  return typeof value !== 'object' || value === null
    ? value
    : Object.fromEntries(
        Object.entries(value).map(([key, field]) => {
          const ofField = (properties as Record<string, Schema>)[key];
          return [key, ofField === undefined ? field : withNulls(field, ofField)];
        }),
      );
}

describe('serializerOf', () => {
  const responses = documentedResponses();

  it('serializerOf and fast-json-stringify write each documented example as the same text', () => {
    assert.ok(responses.length > 60, `${responses.length} examples`);
    for (const { name, schema, example } of responses) {
      assert.equal(serializerOf(schema)(example), fastJsonStringify(schema)(example), name);
    }
  });

  it('serializerOf and fast-json-stringify write the same text if each field that may be null is null', () => {
    const nullable = responses
      .map(({ example, ...response }) => ({
        ...response,
        example: withNulls(example, response.schema),
        before: example,
      }))
      .filter(({ example, before }) => JSON.stringify(example) !== JSON.stringify(before));
    assert.ok(nullable.length > 20, `${nullable.length} examples`);
    for (const { name, schema, example } of nullable) {
      assert.equal(serializerOf(schema)(example), fastJsonStringify(schema)(example), name);
    }
  });
});
