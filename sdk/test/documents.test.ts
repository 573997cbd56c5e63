import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { printSchema } from '../../scripts/sdk/print-schema.ts';
import { clientTypes } from '../../scripts/sdk/sdk-types.ts';
import type { ErrorCode as CodeOfService } from '../../src/platform/errors.ts';
import type { EventInput } from '../../src/webhooks/events/events.ts';
import { ROUTES as PMS } from '../src/generated/pms.ts';
import { ROUTES as THIRD_PARTY } from '../src/generated/third-party.ts';
import type { ServiceErrorCode, WebhookEvent } from '../src/index.ts';

const METHODS = new Set(['get', 'put', 'post', 'patch', 'delete']);

function read(path: string): string {
  return readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
}

function operationIds(name: string): string[] {
  const { paths } = JSON.parse(read(`contract/${name}.json`)) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.values(paths)
    .flatMap((path) => Object.entries(path))
    .flatMap(([method, { operationId }]) => (METHODS.has(method) ? [operationId] : []));
}

/** The type `true` if every value of A is a value of B, and every value of B is a value of A. Otherwise the type `false`. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

describe('operations of the SDK', () => {
  test('the SDK has every third-party operation of the OpenAPI document, except those that only a signed-in owner may call', () => {
    const ownerOperations = ['createCredential', 'listCredentials', 'revokeCredential', 'rotateCredential'];
    assert.deepEqual([...Object.keys(THIRD_PARTY), ...ownerOperations].sort(), operationIds('third-party').sort());
  });

  test('the SDK has every PMS operation of the OpenAPI document, except those that only owners and booking sites may call', () => {
    const ownerOperations = ['createPmsCredential', 'listPmsCredentials', 'revokePmsCredential', 'rotatePmsCredential'];
    const channelOperations = ['createChannel', 'listChannels', 'revokeChannel', 'rotateChannel', 'receiveReservation'];
    assert.deepEqual(
      [...Object.keys(PMS), ...ownerOperations, ...channelOperations].sort(),
      operationIds('pms').sort(),
    );
  });
});

test('the types of the SDK list exactly the error codes and event types of the service', () => {
  const codes: Same<ServiceErrorCode, CodeOfService> = true;
  const events: Same<WebhookEvent['event'], EventInput['type']> = true;
  assert.ok(codes && events);
});

describe('the generator of the SDK types', () => {
  test('the SDK generator prints only operations that accept the given security scheme, and the components that these operations use', () => {
    const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
    const printed = clientTypes(
      {
        paths: {
          '/things/': {
            get: {
              operationId: 'listThings',
              security: [{ key: [] }],
              responses: { 200: { content: content('Thing') } },
            },
            post: {
              operationId: 'makeThing',
              security: [{ bearer: [] }],
              responses: { 201: { content: content('Made') } },
            },
          },
        },
        components: {
          schemas: {
            Thing: {
              type: 'object',
              properties: { parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } } },
            },
            Part: { description: 'one of */ many', type: ['string', 'null'] },
            Made: { type: 'object', properties: {} },
          },
        },
      },
      'key',
    );
    assert.match(printed, /export interface Thing \{\s+parts\?: Part\[\];\s+\}/);
    assert.match(printed, /\/\*\* one of \* \/ many \*\/\nexport type Part = string \| null;/);
    assert.match(printed, /listThings: \{\s+answer: Thing;\s+\};/);
    assert.doesNotMatch(printed, /makeThing|Made/);
  });

  test('the SDK generator prints types for enum, const, anyOf, allOf, map and empty schemas, and refuses a reference to another file', () => {
    assert.equal(printSchema({ enum: ['a', 'b', null] }), '"a" | "b" | null');
    assert.equal(printSchema({ const: 'a' }), '"a"');
    assert.equal(printSchema({ anyOf: [{ type: 'integer' }, { type: 'number' }, { type: 'null' }] }), 'number | null');
    assert.equal(
      printSchema({ type: 'object', patternProperties: { '^.*$': { type: 'string' } } }),
      'Record<string, string>',
    );
    assert.equal(printSchema({ type: 'object', additionalProperties: { type: 'boolean' } }), 'Record<string, boolean>');
    assert.equal(printSchema({ allOf: [{ $ref: '#/components/schemas/A' }, { type: 'string' }] }), '(A) & (string)');
    assert.equal(printSchema({}), 'unknown');
    assert.throws(() => printSchema({ $ref: 'other.json#/A' }), /other\.json/);
  });
});
