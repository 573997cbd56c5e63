import type { Schema } from '../../fuzz/operations.ts';

/** Names of the fields and indexes of the lists that lead to a value, outermost first. Empty for the whole value. */
export type Path = readonly string[];
/** Value that leaves a field out. */
export const LEFT_OUT = Symbol('left out');

/** A list of this many smallest elements. */
export class ListOf {
  readonly length: number;

  constructor(length: number) {
    this.length = length;
  }
}

/** Makes a value for a field whose schema does not say which values the service knows, for example an id. */
export type Known = Record<string, () => unknown>;

/** Returns the variant of a schema that is not null. */
export function variantOf(schema: Schema): Schema {
  return schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
}

/** Returns the smallest valid value that has a field at the path, and puts the value there. */
export function valueWith(schema: Schema, known: Known, path: Path, value: unknown): unknown {
  return build(schema, { name: '', known, path, value });
}

/** Returns the smallest valid value. */
export function smallestValue(schema: Schema, known: Known, name = ''): unknown {
  return build(schema, { name, known, path: null, value: null });
}

interface Wanted {
  name: string;
  known: Known;
  /** Path at which the value is put, or null if the path does not lead through this part. */
  path: Path | null;
  value: unknown;
}

function build(schema: Schema, wanted: Wanted): unknown {
  const { name, known, path, value: put } = wanted;
  const variant = variantOf(schema);
  if (path?.length === 0) {
    return put instanceof ListOf ? elementsOf(variant, put.length, { ...wanted, path: null }) : put;
  }
  if (variant.type === 'object') {
    return objectOf(variant, wanted);
  }
  if (variant.type === 'array') {
    const length = Math.max(variant.minItems ?? 0, path === null ? 0 : 1);
    return elementsOf(variant, length, { ...wanted, path: path?.slice(1) ?? null });
  }
  const value = known[name]?.();
  return value !== undefined && variant.enum?.includes(value) !== false ? value : leafOf(variant);
}

function elementsOf({ items = {} }: Schema, length: number, wanted: Wanted): unknown[] {
  return Array.from({ length }, () => build(items, wanted));
}

function objectOf({ properties = {}, required = [], minProperties = 0 }: Schema, wanted: Wanted): object {
  const [step, ...rest] = wanted.path ?? [];
  const least = Object.keys(properties).slice(0, required.length === 0 ? minProperties : 0);
  const names = new Set([...required, ...(step === undefined ? least : [step])]);
  const fields = [...names].map((name) => {
    const path = name === step ? rest : null;
    return [name, build(properties[name] ?? {}, { ...wanted, name, path })] as const;
  });
  return Object.fromEntries(fields.filter(([, each]) => each !== LEFT_OUT));
}

function leafOf(schema: Schema): unknown {
  if (schema.enum !== undefined) {
    return schema.enum[0];
  }
  const [type] = [schema.type].flat();
  switch (type) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.pattern === undefined ? 'x'.repeat(Math.max(1, schema.minLength ?? 1)) : (fits(schema)[0] ?? '');
  }
}

export const UUID = '018f2f3a-7f4b-7c1d-9a52-3b1c0d9e8f77';
const AMOUNTS = ['10.00', '0', '99999999.99', '100', '999.99', '1.5'];
const NO_AMOUNTS = [
  '123456789',
  '100000000',
  '1.234',
  '1000',
  '-1',
  '+1',
  '1e3',
  '0x10',
  '.5',
  '5.',
  '1,50',
  ' 1',
  '1\n',
  'NaN',
  '\u0661',
  '',
];
const TIMES = ['18:30', '00:00', '23:59', '24:00', '9:00', '12:60', '10:00:00'];
const LANGUAGES = ['en', 'pt-BR', 'e', 'en_US', '-', ' '];
const IDS = [1, 50, 51].map((length) => Array(length).fill(UUID).join());
/** Texts of which each pattern of the documents allows some and refuses some. */
const CANDIDATES = [
  ...AMOUNTS,
  ...NO_AMOUNTS,
  ...TIMES,
  ...LANGUAGES,
  ...IDS,
  UUID.toUpperCase(),
  `${UUID},`,
  UUID.slice(1),
];

/** Returns texts that the pattern of the schema allows. */
export function fits({ pattern = '' }: Schema): string[] {
  return CANDIDATES.filter((text) => new RegExp(pattern, 'u').test(text));
}

/** Returns texts that the pattern of the schema refuses. */
export function misfits({ pattern = '' }: Schema): string[] {
  return CANDIDATES.filter((text) => !new RegExp(pattern, 'u').test(text));
}
