import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDocuments, resolved } from '../../support/openapi-documents.ts';

const MAX_ENTRIES = 1_000;
/** Arrays of requests that may have more entries, because a bound in bytes holds too. */
const LONGER = new Set(['body/dishes']);

interface Node {
  type?: string | string[];
  maxItems?: number;
  properties?: Record<string, unknown>;
  items?: unknown;
  anyOf?: unknown[];
  oneOf?: unknown[];
  allOf?: unknown[];
}

/** Yields the path and the maximum length of each array in a schema. */
function* arraysOf(node: unknown, path: string): Generator<[path: string, maxItems: unknown]> {
  if (typeof node !== 'object' || node === null) {
    return;
  }
  const { type, maxItems, properties, items, anyOf = [], oneOf = [], allOf = [] } = node as Node;
  if (type === 'array' || type?.includes('array')) {
    yield [path, maxItems];
  }
  for (const [name, property] of Object.entries(properties ?? {})) {
    yield* arraysOf(property, `${path}/${name}`);
  }
  for (const part of [items, ...anyOf, ...oneOf, ...allOf]) {
    yield* arraysOf(part, path);
  }
}

describe('the bodies of requests in the OpenAPI documents', () => {
  for (const [name, document] of readDocuments()) {
    it(`each array has at most ${MAX_ENTRIES} entries: ${name}`, () => {
      const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
      const bodies = operations.flatMap(({ operationId, requestBody }) =>
        Object.values(requestBody?.content ?? {}).map(({ schema }) => ({
          operationId,
          schema: resolved(schema, document),
        })),
      );
      assert.notEqual(bodies.length, 0);
      for (const { operationId, schema } of bodies) {
        for (const [path, maxItems] of arraysOf(schema, 'body')) {
          assert.equal(typeof maxItems, 'number', `${operationId}: ${path} has no bound`);
          assert.ok(
            LONGER.has(path) || Number(maxItems) <= MAX_ENTRIES,
            `${operationId}: ${path} has ${String(maxItems)}`,
          );
        }
      }
    });
  }
});
