import fc from 'fast-check';
import { jsonOf } from './encodings.ts';
import type { Schema } from './operations.ts';
import { type Place, poolOf, valuesOf } from './values.ts';

const LONG_TEXT = 2_000;

export interface ListPlace {
  /** Path in the body, for example `items.addons`. */
  name: string;
  items: Schema;
  place: Place;
  /** Returns a body that is valid except for this list. */
  around: (list: unknown) => unknown;
}

export function listsIn(schema: Schema, place: Place, name = ''): ListPlace[] {
  if (schema.anyOf !== undefined) {
    return schema.anyOf.flatMap((each) => listsIn(each, place, name));
  }
  if (schema.items !== undefined) {
    const { items } = schema;
    const inner = listsIn(items, place, name).map((found) => ({
      ...found,
      around: (list: unknown) => [found.around(list)],
    }));
    return [{ name, items, place, around: (list) => list }, ...inner];
  }
  const least = exampleOf(schema, place);
  return Object.entries(schema.properties ?? {}).flatMap(([field, each]) => {
    const path = name === '' ? field : `${name}.${field}`;
    return listsIn(each, { ...place, name: field, collection: place.name }, path).map((found) => ({
      ...found,
      around: (list: unknown) => ({ ...(least as object), [field]: found.around(list) }),
    }));
  });
}

/** Returns the same valid value in each call. */
export function exampleOf(schema: Schema, place: Place): unknown {
  return fc.sample(valuesOf(schema, place), { numRuns: 1, seed: 1 })[0];
}

/** Elements of long lists, by kind. */
export const ELEMENTS: Record<string, (list: ListPlace, index: number) => unknown> = {
  long: ({ items, place }) => exampleOf(items, place),
  empty: ({ items }) => (items.properties === undefined ? '' : {}),
  full: ({ items, place }, index) => largestOf(items, place, index),
  faulty: ({ items }) => faultyOf(items),
};

/** Returns a list of about `sizeBytes` bytes. Elements of the kind `full` differ from each other. */
export function listOf(list: ListPlace, kind: string, sizeBytes: number): unknown[] {
  const element = ELEMENTS[kind];
  const first = element?.(list, 0);
  const bytes = Buffer.byteLength(jsonOf(first)) + 1;
  const count = Math.max(1, Math.floor(sizeBytes / bytes));
  return Array.from({ length: count }, (_, index) => (kind === 'full' ? element?.(list, index) : first));
}

/** Returns a valid value with all optional fields. Its long free texts begin with `index`, so that names in a list are unique. */
function largestOf(schema: Schema, place: Place, index: number): unknown {
  const { properties, items, type, maxLength = LONG_TEXT } = schema;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, each]) => {
      return [name, largestOf(each, { ...place, name, collection: place.name }, index)] as const;
    });
    return Object.fromEntries(fields);
  }
  if (items !== undefined) {
    return [largestOf(items, place, index), largestOf(items, place, index + 1)];
  }
  const isFree = type === 'string' && ![schema.pattern, schema.format, schema.enum].some((each) => each !== undefined);
  if (isFree && (poolOf(place) === null || place.name.startsWith('external_'))) {
    return `${index} `.padEnd(Math.min(maxLength, LONG_TEXT), 'x');
  }
  return exampleOf(schema, { ...place, quality: 'full' });
}

function faultyOf({ properties }: Schema): unknown {
  const wrong = ({ type }: Schema) => (type === 'string' || type === 'array' ? 0 : 'x');
  return properties === undefined
    ? []
    : Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, wrong(each)]));
}
