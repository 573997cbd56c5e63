import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { default as formats } from 'ajv-formats';
import { GENERIC_ERRORS } from '#platform/errors.ts';
import { type Content, type DocumentedOperation, readDocuments, resolved } from '../../support/openapi-documents.ts';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

const ajv = new Ajv2020({ allErrors: true, strictSchema: false, strictTypes: false });
formats.default(ajv);
/** Compiled schemas, by their JSON. Many operations have the same ones. */
const validators = new Map<string, ValidateFunction>();

/** Returns the paths of all fields of a schema that have no description. Nested fields are included. */
function undescribed(schema: Schema, where: string): string[] {
  const { properties = {}, items, anyOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...(field.description === undefined && field.$ref === undefined ? [`${where}.${name}`] : []),
      ...undescribed(field, `${where}.${name}`),
    ]),
    ...(items === undefined ? [] : undescribed(items, `${where}[]`)),
    ...anyOf.flatMap((arm) => undescribed(arm, where)),
  ];
}

for (const [name, document] of readDocuments()) {
  describe(`${name}.json`, () => {
    const operations = [
      ...Object.values(document.paths).flatMap((methods) => Object.values(methods)),
      ...Object.values(document.webhooks ?? {}).map(({ post }) => post),
    ] as (DocumentedOperation & {
      summary?: string;
      description?: string;
      responses: Record<string, { description?: string }>;
    })[];

    it('every operation, parameter and response has a description', () => {
      for (const { operationId, summary, description, parameters = [], responses } of operations) {
        assert.ok(summary, `${operationId} has no summary`);
        assert.ok(description, `${operationId} has no description`);
        for (const parameter of parameters as { name: string; description?: string }[]) {
          assert.ok(parameter.description, `${operationId}: parameter ${parameter.name} has no description`);
        }
        for (const [status, answer] of Object.entries(responses)) {
          assert.ok(answer.description, `${operationId}: response ${status} has no description`);
        }
      }
    });

    it('every named schema and every field has a description', () => {
      const schemas = Object.entries(document.components['schemas'] ?? {}) as [string, Schema][];
      assert.deepEqual(
        schemas.filter(([, { description }]) => description === undefined).map(([schema]) => schema),
        [],
      );
      assert.deepEqual(
        schemas.flatMap(([schema, content]) => undescribed(content, schema)),
        [],
      );
    });

    it('every parameter, request body and response has an example that its schema accepts', () => {
      for (const operation of operations) {
        const { operationId, parameters = [], requestBody, responses } = resolved(operation, document);
        for (const { name: parameter, schema, example } of parameters) {
          assert.notEqual(example, undefined, `${operationId}: ${parameter} has no example`);
          assertValid(schema, example, `${operationId}: ${parameter}`);
        }
        assertExamples(operationId, requestBody?.content ?? {});
        for (const [status, { content }] of Object.entries(responses)) {
          assertExamples(`${operationId} ${status}`, content ?? {});
        }
      }
    });
  });
}

function assertExamples(where: string, content: Record<string, Content>): void {
  for (const [type, { schema, examples = {} }] of Object.entries(content)) {
    assert.notEqual(Object.keys(examples).length, 0, `${where} ${type} has no example`);
    for (const { value } of Object.values(examples)) {
      assertValid(schema, value, `${where} ${type}`);
    }
  }
}

function assertValid(schema: object, value: unknown, where: string): void {
  const key = JSON.stringify(schema);
  const validate = validators.get(key) ?? ajv.compile(schema);
  validators.set(key, validate);
  assert.ok(validate(value), `${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}

describe('the guide of errors', () => {
  it('the guide of errors names every status that a response with the generic code "error" can have', async () => {
    const guide = await readFile(join(import.meta.dirname, '../../../docs/guides/errors.md'), 'utf8');
    for (const status of Object.keys(GENERIC_ERRORS)) {
      assert.match(guide, new RegExp(`\\b${status}\\b`));
    }
  });
});
