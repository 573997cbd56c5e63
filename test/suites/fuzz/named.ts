import fc from 'fast-check';
import type { HttpCase } from './cases.ts';
import { encode, type Encoding, jsonOf, leafOf, percentEncoded } from './encodings.ts';
import {
  CONTENT_TYPES,
  HOSTILE_ENCODINGS,
  HOSTILE_KEYS,
  KEY,
  ODD_BODIES,
  ODD_CONTENT_TYPES,
  OTHER_VALUES,
  PROMISED_VALUES,
} from './hostile.ts';
import type { Operation, Schema } from './operations.ts';
import { exampleRequest } from './requests.ts';
import { poolOf, type Quality, ref, root, valuesOf } from './values.ts';

const ENCODINGS: Encoding[] = ['json', 'form', 'multipart'];
const ONE_MEBIBYTE = 1024 * 1024;

/**
 * Requests to one operation with every input of `hostile.ts` in every field and parameter, which random requests would not reach. For
 * `promised`, the service guarantees a correct response.
 */
export interface NamedCases<Each = HttpCase> {
  promised: Each[];
  others: Each[];
}

export function namedRequests(operation: Operation, seed: number): NamedCases {
  const base = exampleRequest(operation, seed);
  const spellings = (values: object) =>
    // The first cut saves time, because some values have a million characters. The encoded text can be several times as long.
    Object.values(values).map((value) => percentEncoded(leafOf(value).slice(0, 6_000)).slice(0, 6_000));
  const promised = spoiltTargets(operation, base, [...HOSTILE_ENCODINGS, ...spellings(PROMISED_VALUES)]);
  const others = spoiltTargets(operation, base, spellings(OTHER_VALUES));
  if (operation.body === null) {
    return { promised, others };
  }
  const bodies = spoiltBodies(operation.body, base, seed);
  return { promised: [...bodies.promised, ...promised], others: [...bodies.others, ...others] };
}

function spoiltTargets(operation: Operation, base: HttpCase, values: string[]): HttpCase[] {
  const [path = '', query = ''] = base.target.split('?');
  return operation.parameters.flatMap(({ name, in: where }) => {
    const step = operation.path.split('/').indexOf(`{${name}}`);
    const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
    const rivals = rivalsAt(name, operation.path.split('/')[step - 1]);
    const targets = [...values, ...rivals].map((value) =>
      where === 'path'
        ? `${path.split('/').with(step, value).join('/')}${query && `?${query}`}`
        : `${path}?${[...others, `${name}=${value}`].join('&')}`,
    );
    return targets.map((target) => ({ ...base, target }));
  });
}

function spoiltBodies(schema: Schema, base: HttpCase, seed: number): NamedCases {
  const bodies = bodiesOf(schema, seed);
  const [least] = bodies;
  const withBody = (type: string, encoding: Encoding | 'bytes', text: string): HttpCase => ({
    ...base,
    headers: [['Content-Type', type]],
    body: { encoding, text },
  });
  const encoded = (encoding: Encoding, value: unknown) =>
    withBody(CONTENT_TYPES[encoding][0] ?? '', encoding, encode(value, encoding, 'brackets'));
  const whole = jsonOf(least?.body);
  const places = bodies.flatMap(({ body, spots }) => spots.map((spot) => ({ body, spot })));
  const spoilt = places.flatMap(({ body, spot }) => [
    replaced(body, spot, undefined),
    ...Object.values(OTHER_VALUES).map((value) => replaced(body, spot, value)),
  ]);
  return {
    promised: [
      ...ENCODINGS.map((encoding) =>
        withBody(CONTENT_TYPES[encoding][0] ?? '', 'bytes', `"${'a'.repeat(ONE_MEBIBYTE)}"`),
      ),
      ...ODD_CONTENT_TYPES.map((type) => withBody(type, 'json', whole)),
      ...ODD_BODIES.flatMap((text) => Object.values(CONTENT_TYPES).map(([type = '']) => withBody(type, 'json', text))),
      ...HOSTILE_KEYS.map((keys) => encoded('json', { ...least?.body, ...keys })),
      ...places.flatMap(({ body, spot }) => [
        encoded('json', doubled(body, spot)),
        ...[...Object.values(PROMISED_VALUES), ...rivalsAt(spot.at(-1), spot.at(-2))].map((value) =>
          encoded('json', replaced(body, spot, value)),
        ),
      ]),
    ],
    others: spoilt.map((value, index) => encoded(ENCODINGS[index % ENCODINGS.length] ?? 'json', value)),
  };
}

/** Keys and list indexes that lead to a nested value, outermost first. */
type Spot = string[];

interface Body {
  body: Record<string, unknown>;
  spots: Spot[];
}

/** Returns the smallest valid body, and for each optional field the smallest body plus this field. */
function bodiesOf(schema: Schema, seed: number): Body[] {
  const sample = (quality: Quality) =>
    (fc.sample(valuesOf(schema, root(quality)), { numRuns: 1, seed })[0] ?? {}) as Record<string, unknown>;
  const least = sample('least');
  const further = Object.entries(sample('full')).filter(([name]) => !(name in least));
  return [
    { body: least, spots: spotsIn(least) },
    ...further.map(([name, value]) => ({
      body: { ...least, [name]: value },
      spots: [[name], ...spotsIn(value).map((rest) => [name, ...rest])],
    })),
  ];
}

/** Returns placeholders for two ids of the second tenant, if the field or parameter takes an id. */
function rivalsAt(name = '', collection = ''): string[] {
  const pool = poolOf({ name, collection });
  return pool === null ? [] : [0, 9].map((index) => ref(`rival.${pool}`, index));
}

function spotsIn(value: unknown): Spot[] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, each]) => [[key], ...spotsIn(each).map((rest) => [key, ...rest])])
    : [];
}

/** Returns a copy in which `by` replaces the nested value at the path. If `by` is undefined, the field is removed. */
function replaced(value: unknown, [key, ...rest]: Spot, by: unknown): unknown {
  if (key === undefined) {
    return by;
  }
  if (Array.isArray(value)) {
    return value.with(Number(key), replaced(value[Number(key)], rest, by) ?? null);
  }
  const { [key]: old, ...others } = value as Record<string, unknown>;
  const changed = replaced(old, rest, by);
  return changed === undefined ? others : { ...others, [key]: changed };
}

/** Returns a copy whose JSON text has the field at the path twice, as in `{"a":1,"a":1}`. */
function doubled(value: unknown, [key, ...rest]: Spot): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.with(Number(key), doubled(value[Number(key)], rest));
  }
  const old = (value as Record<string, unknown>)[key];
  return rest.length === 0 ? { ...value, [`${KEY}${key}`]: old } : { ...value, [key]: doubled(old, rest) };
}
