import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { parse, type ParseError } from 'jsonc-parser';
import { fieldsOf, listOf } from '#platform/lib/unchecked.ts';
import { TEMPLATE } from '../cli/tenant.ts';
import { TenantDocument } from './schema.ts';

const text = await readFile(TEMPLATE, 'utf8');

/**
 * Returns the paths of all fields that the schema describes. A path has no index for an entry of a list, for example `.menu.dishes.name`.
 */
function pathsOfSchema(schema: unknown, path: string): string[] {
  const { properties, items } = fieldsOf(schema);
  return [
    ...Object.entries(fieldsOf(properties)).flatMap(([name, field]) => [
      `${path}.${name}`,
      ...pathsOfSchema(field, `${path}.${name}`),
    ]),
    ...(items === undefined ? [] : pathsOfSchema(items, path)),
  ];
}

function descriptionsOf(schema: unknown): string[] {
  const { properties, items } = fieldsOf(schema);
  return [
    ...Object.values(fieldsOf(properties)).flatMap((field) => [
      String(fieldsOf(field)['description']),
      ...descriptionsOf(field),
    ]),
    ...(items === undefined ? [] : descriptionsOf(items)),
  ];
}

/** Returns the paths of all fields of a value, written as `pathsOfSchema` writes them. */
function pathsOfValue(value: unknown, path: string): string[] {
  if (Array.isArray(value)) {
    return listOf(value).flatMap((entry) => pathsOfValue(entry, path));
  }
  return Object.entries(fieldsOf(value)).flatMap(([name, field]) => [
    `${path}.${name}`,
    ...pathsOfValue(field, `${path}.${name}`),
  ]);
}

it('the new tenant document has every field of the schema, each with its description as a comment', () => {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  assert.deepEqual(errors, []);
  assert.deepEqual(pathsOfValue(value, '').sort(), pathsOfSchema(TenantDocument, '').sort());
  const comments = text.replaceAll(/\n *\/\/ /g, ' ');
  for (const description of descriptionsOf(TenantDocument)) {
    assert.ok(comments.includes(description.replaceAll('`', '"')), description);
  }
});
