import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parse, type ParseError } from 'jsonc-parser';
import { fieldsOf, listOf } from '#platform/lib/unchecked.ts';
import { TenantDocument } from './schema.ts';
import { tenantTemplate } from './template.ts';

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

it('the template of a tenant document has every field of the schema', () => {
  const errors: ParseError[] = [];
  const value: unknown = parse(tenantTemplate('a password of a test'), errors, { allowTrailingComma: true });
  assert.deepEqual(errors, []);
  assert.deepEqual(pathsOfValue(value, '').sort(), pathsOfSchema(TenantDocument, '').sort());
});

it('each field of the template has a comment before it, and no line is longer than 120 characters', () => {
  const lines = tenantTemplate('a password of a test').split('\n');
  for (const [index, line] of lines.entries()) {
    assert.ok(line.length <= 120, line);
    if (/^ *"\w+":/.test(line)) {
      assert.match(lines[index - 1] ?? '', /^ *\/\/ \S/, line);
      assert.doesNotMatch(lines[index - 1] ?? '', /undefined/, line);
    }
  }
});
