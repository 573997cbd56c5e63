import fc from 'fast-check';
import { anyCharacter } from '../../support/texts.ts';
import { HOSTILE_KEYS, HOSTILE_VALUES, KEY } from './hostile.ts';
import type { Schema } from './operations.ts';

/**
 * Returns a placeholder, which gets its value when the request is sent, so that a later run can send the case again. If `name` is `day`, the
 * value is the date `index` days from today. Otherwise it is the id at position `index` of the pool `name` (`pools.ts`).
 */
export function ref(name: string, index: number): string {
  return `REF-${name}-${index}-`;
}

export interface Place {
  name: string;
  /** Name of the enclosing field, or the previous segment of the URL path. It tells the `id` of a channel from that of a credential. */
  collection: string;
  quality: Quality;
}

/**
 * `good` values fit the schema. `spoilt` values are mostly good, but some are wrong. `least` and `full` values fit the schema and use only
 * ids of the caller's own tenant, with no or with all optional fields.
 */
export type Quality = 'good' | 'spoilt' | 'least' | 'full';

export function root(quality: Quality): Place {
  return { name: '', collection: '', quality };
}

const SPOILT_ONE_IN = 14;
/** Characters of one to four bytes in UTF-8, and those with a special meaning in a format. */
const LETTERS = Array.from('aZ09 _-éß漢𝄞🍕\u202e"\'\\/%&=+<;\n\t.[]');
const UUIDS = fc.uuid();
const POOL_INDEX = fc.nat({ max: 63 });

/** Valid texts that the schema does not tell, by field. A query parameter has no enclosing field, so its key begins with a dot. */
const KNOWN_TEXTS: Record<string, string[]> = {
  webhook_url: ['https://127.0.0.1:9443/hook', 'https://hooks.example/a?b=c', 'https://[::1]:8443/'],
  password: [ref('password', 0)],
  // A dish may only name sections that the menu has.
  'categories.name': ['Pizza'],
  'kitchens.name': ['Main kitchen'],
  'sub_menus.name': ['From the oven'],
  'menu_sets.name': ['All day'],
  category: ['Pizza'],
  kitchen: ['Main kitchen'],
  sub_menu: ['From the oven'],
  menu_set: ['All day'],
  sub_menus: ['From the oven'],
  '.phone': ['+351 912', '0'],
};
const WORDS = ['Ana Lima', 'Pizza', '+351 912', 'a', '0'];

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...Object.values(HOSTILE_VALUES)) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
);

export function valuesOf(schema: Schema, place: Place): fc.Arbitrary<unknown> {
  const good = goodValues(schema, place);
  return place.quality === 'spoilt' ? mostly(good, hostileValue, SPOILT_ONE_IN) : good;
}

function isExemplary({ quality }: Place): boolean {
  return quality === 'least' || quality === 'full';
}

function goodValues(schema: Schema, place: Place): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) {
    return fc.oneof(...schema.anyOf.map((each) => goodValues(each, place)));
  }
  if (schema.enum !== undefined) {
    return fc.constantFrom(...schema.enum);
  }
  if (schema['x-price'] || schema['x-sold-amount']) {
    return fc.oneof(fc.stringMatching(/^\d{1,4}(\.\d{1,2})?$/), fc.nat({ max: 500 }));
  }
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type) => goodValues({ ...schema, type }, place)));
  }
  switch (schema.type) {
    case 'object':
      return objects(schema, place);
    case 'array':
      return lists(schema, place);
    case 'integer':
    case 'number':
      return integers(schema, place);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return texts(schema, place);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objects(schema: Schema, place: Place): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], minProperties = 0 } = schema;
  const named = Object.entries(properties).filter(
    ([name], index) => place.quality !== 'least' || required.includes(name) || index < minProperties,
  );
  const fields = Object.fromEntries(
    named.map(([name, each]) => [name, valuesOf(each, { ...place, name, collection: place.name })]),
  );
  const whole = fc
    .record(fields, {
      requiredKeys: isExemplary(place) ? Object.keys(fields) : required,
      noNullPrototype: true,
    })
    .filter((value) => Object.keys(value).length >= minProperties);
  if (place.quality !== 'spoilt') {
    return whole;
  }
  const withExtraKeys = fc
    .tuple(whole, fc.constantFrom(...HOSTILE_KEYS))
    .map(([value, keys]) => ({ ...value, ...keys }));
  const withDoubleKey = whole.map((value) => {
    const [name, first] = Object.entries(value)[0] ?? ['', null];
    return { ...value, [`${KEY}${name}`]: first };
  });
  return fc.oneof(
    { weight: 20, arbitrary: whole },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [], noNullPrototype: true }) },
    { weight: 1, arbitrary: withExtraKeys },
    { weight: 1, arbitrary: withDoubleKey },
  );
}

function lists({ items = {}, minItems = 0, maxItems = 3 }: Schema, place: Place): fc.Arbitrary<unknown[]> {
  const lengths = (minLength: number, maxLength: number) => fc.array(valuesOf(items, place), { minLength, maxLength });
  const longest = Math.max(minItems, Math.min(maxItems, 3));
  return fc.oneof(
    { weight: 3, arbitrary: lengths(Math.max(minItems, 1), Math.max(minItems, 1)) },
    { weight: 2, arbitrary: lengths(minItems, longest) },
  );
}

function integers({ minimum = 0, maximum = 2_147_483_647 }: Schema, place: Place): fc.Arbitrary<number> {
  const small = fc.integer({ min: minimum, max: Math.min(minimum + 2, maximum) });
  if (isExemplary(place)) {
    return small;
  }
  return fc.oneof(
    { weight: 10, arbitrary: small },
    { weight: 1, arbitrary: fc.constant(maximum) },
    { weight: 1, arbitrary: fc.integer({ min: minimum, max: maximum }) },
  );
}

function texts(schema: Schema, place: Place): fc.Arbitrary<string> {
  const { name } = place;
  if (schema.format === 'date') {
    return days(name);
  }
  if (schema.format === 'email') {
    return mostly(fc.stringMatching(/^[a-z0-9]{12}@fuzz\.example$/), identifiers(schema, place), 4);
  }
  if (poolOf(place) !== null) {
    return identifiers(schema, place);
  }
  const known = KNOWN_TEXTS[`${place.collection}.${name}`] ?? KNOWN_TEXTS[name];
  if (known !== undefined) {
    return fc.constantFrom(...known);
  }
  if (schema.pattern !== undefined) {
    return fc.stringMatching(new RegExp(schema.pattern));
  }
  switch (schema.format) {
    case 'uuid':
      return UUIDS;
    case 'uri':
      return fc.constantFrom('https://images.example/a.jpg', 'HTTP://images.example/a%20b.jpg?c=1');
    case 'date-time':
      return fc.constantFrom('2027-01-01T00:00:00Z', '2027-01-01T00:00:00.000+02:00');
    default:
      return freeTexts(schema);
  }
}

/** Generates future days. Most stays end after they begin. */
function days(name: string): fc.Arbitrary<string> {
  const [min, max] = /out|to|end|until/.test(name) ? [30, 60] : [2, 31];
  return fc.integer({ min, max }).map((day) => ref('day', day));
}

/** Returns the name of the pool for a field or parameter, or null if it does not take an id. */
export function poolOf({ name, collection }: Pick<Place, 'name' | 'collection'>): string | null {
  if (name === 'id') {
    return `${collection.replaceAll('-', '_')}.id`;
  }
  return name === 'sku' || name === 'email' || name.endsWith('_id') ? name : null;
}

/** Generates ids. Most belong to the caller's tenant, some to the second tenant, and some to no tenant. */
function identifiers(schema: Schema, place: Place): fc.Arbitrary<string> {
  const pool = poolOf(place) ?? place.name;
  const own = POOL_INDEX.map((index) => ref(pool, index));
  if (isExemplary(place)) {
    return place.name.startsWith('external_') ? UUIDS : own;
  }
  const rivals = POOL_INDEX.map((index) => ref(`rival.${pool}`, index));
  const others = freeTexts({ ...schema, minLength: 1 });
  // If an external id is known, the service checks only little of the call, so most of them are new.
  const [ownWeight, freshWeight] = place.name.startsWith('external_') ? [6, 10] : [20, 1];
  return fc.oneof(
    { weight: ownWeight, arbitrary: own },
    { weight: 2, arbitrary: rivals },
    { weight: freshWeight, arbitrary: UUIDS },
    { weight: 2, arbitrary: schema.format === 'uuid' ? UUIDS : others },
  );
}

function freeTexts({ minLength = 0, maxLength = 400 }: Schema): fc.Arbitrary<string> {
  const longest = Math.min(maxLength, 400);
  const unit = fc.constantFrom(...LETTERS);
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...WORDS).map((word) => word.slice(0, longest)) },
    { weight: 6, arbitrary: fc.string({ unit, minLength, maxLength: Math.max(minLength, Math.min(longest, 24)) }) },
    { weight: 1, arbitrary: fc.constant('𝄞'.repeat(longest)) },
  );
}

/** One value in `oneInSoMany` is a value of `other`. */
export function mostly<T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>, oneInSoMany: number): fc.Arbitrary<T> {
  return fc.oneof({ weight: oneInSoMany - 1, arbitrary: usual }, { weight: 1, arbitrary: other });
}
