import type { Components, Schema } from './components.ts';
import { examplesOf, namedExamples } from './examples.ts';
import { IF_NONE_MATCH } from './headers.ts';
import type { Operation } from './operations.ts';

/** What an operation is called with beside its body. */
export function parametersOf({ params, query, hasEtag }: Operation, components: Components): object[] {
  return [
    ...fields(params).map((field) => parameter('path', field, components)),
    ...fields(query).map((field) => parameter('query', field, components)),
    ...(hasEtag ? [IF_NONE_MATCH] : []),
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

/** The three forms of a body (contract §1). @param summaries of its examples, in their order */
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

/** Of the ways in which a form may hold nested values (decision 5), OpenAPI can say this one: a field of JSON. */
function formEncoding(schema: Schema): object {
  const nested = fields(schema).filter((field) => ['array', 'object'].includes(String(field.schema.type)));
  return nested.length === 0
    ? {}
    : { encoding: Object.fromEntries(nested.map(({ name }) => [name, { contentType: 'application/json' }])) };
}
