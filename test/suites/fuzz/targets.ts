import fc from 'fast-check';
import { leafOf, percentEncoded } from './encodings.ts';
import { HOSTILE_ENCODINGS } from './hostile.ts';
import type { Operation, Parameter, Schema } from './operations.ts';
import { mostly, type Place, type Quality, valuesOf } from './values.ts';

export function targets({ path, parameters }: Operation, quality: Quality): fc.Arbitrary<string> {
  const steps = path.split('/').map((step, index, all) => {
    const parameter = parameters.find(({ name }) => step === `{${name}}`);
    const place = { name: parameter?.name ?? '', collection: all[index - 1] ?? '', quality };
    return parameter === undefined ? fc.constant(step) : encodedValues(parameter.schema, place);
  });
  const whole = fc.tuple(...steps).map((each) => each.join('/'));
  const slash = mostly(fc.constant('/'), fc.constant(''), 6);
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  return fc
    .tuple(whole, slash, queries(inQuery, quality))
    .map(([found, end, query]) => found.replace(/\/$/, end) + query);
}

function queries(parameters: Parameter[], quality: Quality): fc.Arbitrary<string> {
  const each = parameters.map(({ name, schema, required }) => {
    const values = encodedValues(schema, { name, collection: '', quality });
    const pair: fc.Arbitrary<string[]> = values.map((value) => [`${name}=${value}`]);
    if (required) {
      return quality === 'spoilt' ? mostly(pair, fc.constant([]), 8) : pair;
    }
    return fc.oneof(pair, fc.constant([]));
  });
  const good = fc.tuple(...each).map((pairs) => pairs.flat());
  const odd = fc.constantFrom(
    ['tenant_id=1'],
    ['hotel_id='],
    ['__proto__=1'],
    ['page=1', 'page=2'],
    ['%FF=1'],
    ['a=%'],
    ['=', '', '&&'],
    Array.from({ length: 500 }, (_, index) => `p${index}=1`),
  );
  const spoilt = fc.tuple(good, odd).map(([pairs, more]) => [...pairs, ...more]);
  const doubled = good.map((pairs) => [...pairs, ...pairs]);
  const all = quality === 'spoilt' ? mostly(mostly(good, spoilt, 14), doubled, 14) : good;
  return all.map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
}

function encodedValues(schema: Schema, place: Place): fc.Arbitrary<string> {
  const encoded = valuesOf(schema, place).map((value) => percentEncoded(leafOf(value)));
  return place.quality === 'spoilt' ? mostly(encoded, fc.constantFrom(...HOSTILE_ENCODINGS), 9) : encoded;
}

/** Almost all of these paths belong to no operation. */
export const wildTargets = fc
  .array(
    fc.oneof(
      fc.constantFrom(...HOSTILE_ENCODINGS),
      fc.constantFrom('v1', 'third-party', 'orders', 'staff', '', 'livez'),
    ),
    { maxLength: 6 },
  )
  .map((steps) => `/${steps.join('/')}`);
