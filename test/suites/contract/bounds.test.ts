import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Yields each bound in a schema, also those in its parts. Single digits, such as that of a weekday, need no line on the page. */
function* boundsOf(node: unknown): Generator<number> {
  for (const [name, part] of Object.entries(typeof node === 'object' && node !== null ? node : {})) {
    if (['maxLength', 'maxItems', 'maximum'].includes(name) && typeof part === 'number' && part > 9) {
      yield part;
    }
    yield* boundsOf(part);
  }
}

it('the page of limits has each bound of the bodies and parameters in the OpenAPI documents', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/guides/limits.md'), 'utf8');
  const numbers = new Set(page.match(/\d[\d,.]*(?<![,.])/g));
  const requests = Array.from(readDocuments()).flatMap(([, document]) =>
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ requestBody, parameters }) => resolved([requestBody?.content, parameters], document)),
  );
  const bounds = [...new Set(requests.flatMap((request) => [...boundsOf(request)]))];
  assert.ok(bounds.length > 20);
  assert.deepEqual(
    bounds.filter((bound) => !numbers.has(bound.toLocaleString('en'))),
    [],
  );
});

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
