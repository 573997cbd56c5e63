import type { Schema } from './components.ts';

/**
 * Returns the `examples` of a schema. If the schema has no `examples`, makes values from the examples of its subschemas. Returns an empty
 * list if a required field has no example.
 */
export function examplesOf({ examples, anyOf, items, properties, required }: Schema): readonly unknown[] {
  if (examples !== undefined) {
    return examples;
  }
  if (anyOf !== undefined) {
    return anyOf.flatMap(examplesOf);
  }
  if (items !== undefined) {
    const entries = examplesOf(items);
    return entries.length === 0 ? [] : [entries];
  }
  return properties === undefined ? [] : composed(properties, required ?? []);
}

function composed(properties: Readonly<Record<string, Schema>>, required: readonly string[]): object[] {
  const fields = Object.entries(properties).flatMap(([name, part]) =>
    examplesOf(part)
      .slice(0, 1)
      .map((value) => [name, value] as const),
  );
  const value = Object.fromEntries(fields);
  return fields.length > 0 && required.every((name) => name in value) ? [value] : [];
}

/**
 * Returns the examples of a schema, keyed by the name that the document shows. If the response can be a whole list or one page of it, the
 * names are `all` and `page`.
 */
export function namedExamples(
  schema: Schema,
  summaries: readonly string[] = [],
): Record<string, { summary?: string; value: unknown }> {
  const values = examplesOf(schema);
  const isList = schema.anyOf !== undefined && values.some(Array.isArray);
  const nameOf = (value: unknown, index: number) => {
    if (isList) {
      return Array.isArray(value) ? 'all' : 'page';
    }
    return index === 0 ? 'example' : `example-${index + 1}`;
  };
  return Object.fromEntries(
    values.map((value, index) => {
      const summary = summaries[index];
      return [nameOf(value, index), { ...(summary !== undefined && { summary }), value }];
    }),
  );
}
