import { parseJson } from './text.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
  readonly anyOf?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

const INTEGER = /^-?(0|[1-9]\d*)$/;
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** Converts texts to the types in a JSON Schema, in place (rule 5). A text that does not fit stays, and the validation refuses it. */
export function convertText(value: unknown, schema: unknown): unknown {
  const alternatives = alternativesOf(schema);
  if (typeof value === 'string') {
    return convertLeaf(value, new Set(alternatives.flatMap(typesOf)));
  }
  if (Array.isArray(value)) {
    const items = alternatives.find((alternative) => typesOf(alternative).includes('array'))?.items;
    return value.map((item) => convertText(item, items));
  }
  if (typeof value === 'object' && value !== null) {
    const properties = alternatives.find((alternative) => typesOf(alternative).includes('object'))?.properties ?? {};
    return convertFields(value as Record<string, unknown>, properties);
  }
  return value;
}

/** The loop runs over the few fields of the schema, because a query can have thousands of other parameters. */
function convertFields(fields: Record<string, unknown>, properties: Readonly<Record<string, unknown>>): object {
  for (const [name, schema] of Object.entries(properties)) {
    if (Object.hasOwn(fields, name)) {
      fields[name] = convertText(fields[name], schema);
    }
  }
  return fields;
}

function alternativesOf(schema: unknown): Schema[] {
  if (typeof schema !== 'object' || schema === null) {
    return [];
  }
  const { anyOf } = schema as Schema;
  return anyOf ? anyOf.flatMap(alternativesOf) : [schema];
}

function typesOf(schema: Schema): readonly string[] {
  if (schema.type !== undefined) {
    return typeof schema.type === 'string' ? [schema.type] : schema.type;
  }
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return values.map((value) => (value === null ? 'null' : typeof value));
}

function convertLeaf(text: string, types: ReadonlySet<string>): unknown {
  if (types.has('string')) {
    return text;
  }
  if ((types.has('integer') && INTEGER.test(text)) || (types.has('number') && DECIMAL.test(text))) {
    return toNumber(text);
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) {
    return text === 'true';
  }
  if (types.has('null') && text === '') {
    return null;
  }
  if (types.has('object') || types.has('array')) {
    return toContainer(text, types);
  }
  return text;
}

function toNumber(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function toContainer(text: string, types: ReadonlySet<string>): unknown {
  try {
    const value = parseJson(text);
    const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    return types.has(type) ? value : text;
  } catch {
    return text;
  }
}
