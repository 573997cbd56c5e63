import fc from 'fast-check';
import { jsonOf } from './encodings.ts';
import type { Schema } from './operations.ts';
import { type Place, poolOf, valuesOf } from './values.ts';

/** Maximum length of a generated text. The schema may set a lower maximum length. */
const LONG_TEXT = 2_000;

/** A list that a request body can have, for example the `items` of an order. */
export interface ListPlace {
  /** Path of the list in the body, for example `items` or `items.addons`. */
  name: string;
  items: Schema;
  place: Place;
  /** Returns a body in which the list at the path `name` is the given list. The rest of the body is valid. */
  around: (list: unknown) => unknown;
}

/** Returns every list that a body of the schema can have, at every depth of nesting. */
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

/**
 * Returns a valid value of the schema. Repeated calls return the same value. If `place.quality` is `least`, the value
 * has no optional fields.
 */
export function exampleOf(schema: Schema, place: Place): unknown {
  return fc.sample(valuesOf(schema, place), { numRuns: 1, seed: 1 })[0];
}

/**
 * Functions that return one element of a list, keyed by the kind of element. With a long list of such elements, the fuzzer finds a decoder
 * or validator that needs too much time.
 */
export const ELEMENTS: Record<string, (list: ListPlace, index: number) => unknown> = {
  long: ({ items, place }) => exampleOf(items, place),
  empty: ({ items }) => (items.properties === undefined ? '' : {}),
  full: ({ items, place }, index) => largestOf(items, place, index),
  faulty: ({ items }) => faultyOf(items),
};

/**
 * Returns a list of about `sizeBytes` bytes with elements of the given kind. An element of the kind `full` has all optional
 * fields, and differs from every other element of the list. For every other kind, the list repeats one element.
 */
export function listOf(list: ListPlace, kind: string, sizeBytes: number): unknown[] {
  const element = ELEMENTS[kind];
  const first = element?.(list, 0);
  const bytes = Buffer.byteLength(jsonOf(first)) + 1;
  const count = Math.max(1, Math.floor(sizeBytes / bytes));
  return Array.from({ length: count }, (_, index) => (kind === 'full' ? element?.(list, index) : first));
}

/**
 * Returns a valid value with all optional fields. The free texts are as long as the schema allows, up to 2,000 characters. Each free text
 * begins with `index`, so that names in a list are unique.
 */
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

/** Returns a list element in which every field has a wrong type. */
function faultyOf({ properties }: Schema): unknown {
  const wrong = ({ type }: Schema) => (type === 'string' || type === 'array' ? 0 : 'x');
  return properties === undefined
    ? []
    : Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, wrong(each)]));
}
