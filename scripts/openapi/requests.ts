import type { Components, Schema } from './components.ts';
import { examplesOf, namedExamples } from './examples.ts';
import { CONSOLE_HEADER_PARAMETER, IF_MATCH, IF_NONE_MATCH } from './headers.ts';
import type { Operation } from './operations.ts';

export function parametersOf(operation: Operation, components: Components): object[] {
  const { params, query, hasEtag, takesIfMatch, isConsoleOnly } = operation;
  return [
    ...fields(params).map((field) => parameter('path', field, components)),
    ...fields(query).map((field) => parameter('query', field, components)),
    ...(hasEtag ? [IF_NONE_MATCH] : []),
    ...(takesIfMatch ? [IF_MATCH] : []),
    ...(isConsoleOnly ? [CONSOLE_HEADER_PARAMETER] : []),
  ];
}

interface Field {
  name: string;
  schema: Schema;
  isRequired: boolean;
}

function fields(schema: Schema | null): Field[] {
  const required = schema?.required ?? [];
  const properties = schema?.properties ?? {};
  return Object.entries(properties).map(([name, part]) => ({
    name,
    schema: part,
    isRequired: required.includes(name),
  }));
}

function parameter(place: 'path' | 'query', field: Field, components: Components): object {
  const { description, examples: _, ...schema } = field.schema;
  const [example] = examplesOf(field.schema);
  return {
    name: field.name,
    in: place,
    required: field.isRequired,
    ...(description !== undefined && { description }),
    schema: components.refer(schema),
    ...(example !== undefined && { example }),
  };
}

/**
 * Returns the request body in its three content types (contract §1).
 * @param summaries the summaries of the examples, in the order of the examples
 */
export function bodyOf(schema: Schema, summaries: readonly string[], components: Components): object {
  const examples = namedExamples(schema, summaries);
  const content = { schema: components.refer(schema), ...(Object.keys(examples).length > 0 && { examples }) };
  const form = { ...content, ...formEncoding(schema) };
  return {
    required: fields(schema).some(({ isRequired }) => isRequired) || schema.minProperties !== undefined,
    content: {
      'application/json': content,
      'application/x-www-form-urlencoded': form,
      'multipart/form-data': form,
    },
  };
}

/**
 * Returns the `encoding` object of a form. This object says that fields with nested values contain JSON text. OpenAPI cannot express the
 * other ways to write a nested value, such as `items[0][item_id]` (rule 5).
 */
function formEncoding(schema: Schema): object {
  const nested = fields(schema).filter((field) => ['array', 'object'].includes(String(field.schema.type)));
  return nested.length === 0
    ? {}
    : { encoding: Object.fromEntries(nested.map(({ name }) => [name, { contentType: 'application/json' }])) };
}
