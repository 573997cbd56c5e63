import fc from 'fast-check';
import { encode, type Encoding, type FormStyle, jsonOf } from './encodings.ts';
import { CONTENT_TYPES, ODD_BODIES, ODD_CONTENT_TYPES } from './hostile.ts';
import type { Schema } from './operations.ts';
import { hostileValue, mostly, type Quality, root, valuesOf } from './values.ts';

const ENCODINGS: Encoding[] = ['json', 'form', 'multipart'];
const STYLES: FormStyle[] = ['brackets', 'dots', 'mixed', 'json'];

export interface Content {
  type: string | null;
  encoding: Encoding | 'bytes';
  text: string;
}

/** Generates bodies that match a schema. If `quality` is `spoilt`, some values are wrong, some bodies are damaged or ignore the schema. */
export function contents(schema: Schema, quality: Quality): fc.Arbitrary<Content> {
  const good = fc
    .record({
      value: valuesOf(schema, root(quality)),
      encoding: fc.constantFrom(...ENCODINGS),
      style: fc.constantFrom(...STYLES),
      spelling: fc.nat({ max: 2 }),
    })
    .map(({ value, encoding, style, spelling }) => {
      const types = CONTENT_TYPES[encoding];
      return { type: types[spelling % types.length] ?? null, encoding, text: encode(value, encoding, style) };
    });
  return quality === 'spoilt' ? mostly(mostly(good, good.chain(damaged), 11), junk, 12) : good;
}

function damaged(content: Content): fc.Arbitrary<Content> {
  const { text } = content;
  return fc.oneof(
    fc.nat({ max: text.length }).map((end) => ({ ...content, text: text.slice(0, end) })),
    fc.nat({ max: text.length }).map((at) => ({
      ...content,
      encoding: 'bytes' as const,
      text: `${toBytes(text.slice(0, at))}\xff${toBytes(text.slice(at))}`,
    })),
    fc.constantFrom(...ODD_CONTENT_TYPES, ...Object.values(CONTENT_TYPES).flat()).map((type) => ({ ...content, type })),
    fc
      .constantFrom(`\ufeff${text}`, `${text}${text}`, `${text}\0`, ` \r\n${text}`)
      .map((spoilt) => ({ ...content, text: spoilt })),
    fc.constant({ ...content, type: null }),
  );
}

export const junk: fc.Arbitrary<Content> = fc.record({
  type: fc.option(fc.constantFrom(...ODD_CONTENT_TYPES, ...Object.values(CONTENT_TYPES).flat())),
  encoding: fc.constant('bytes' as const),
  text: fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    hostileValue.map((value) => toBytes(jsonOf(value))),
    fc.constantFrom(...ODD_BODIES).map(toBytes),
  ),
});

/** Returns the UTF-8 bytes of a text as a string with one character per byte. */
function toBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
