import fc from 'fast-check';
import type { HttpCase } from './cases.ts';
import { jsonOf } from './encodings.ts';
import { CONTENT_TYPES } from './hostile.ts';
import type { Operation, Schema } from './operations.ts';
import { type Place, root, valuesOf } from './values.ts';

/** Keeps a form's fields within their number, so that it is looked at whole. */
const FILLER = '1'.repeat(30);

type Body = Pick<HttpCase, 'headers' | 'body'>;
/** A body of about so many bytes. */
export type Shape = (sizeBytes: number) => Body;

/** Bodies that a careless decoder or validator takes too long for, whatever the operation. */
export const SHAPES: Record<string, Shape> = {
  'many unknown keys': (size) => json(`{${numbered(size, (index) => `"k${index}":1`, ',')}}`),
  'a list of many texts': (size) => json(`{"items":[${numbered(size, (index) => `"${index}"`, ',')}]}`),
  'many lists within lists': (size) => json('['.repeat(size / 2) + ']'.repeat(size / 2)),
  'one long text': (size) => json(`{"notes":"${'\\u0041'.repeat(size / 6)}"}`),
  'white space': (size) => json(`{${' '.repeat(size)}}`),
  'an endless text': (size) => json(`{"a":"${'\\\\'.repeat(size / 2)}`),
  'many fields of a form': (size) => form(numbered(size, (index) => `k${index}=${FILLER}`, '&')),
  'many entries of a form': (size) =>
    form(numbered(size, (index) => `items[${index % 1_000}][k${index}]=${FILLER}`, '&')),
  'a name of many brackets': (size) => form(`a${'[b]'.repeat(size / 3)}=1`),
  'many percent signs': (size) => form(`a=${'%41'.repeat(size / 3)}`),
  'many plus signs': (size) => form(`a=${'+'.repeat(size)}`),
  'many parts': (size) => multipart(numbered(size, (index) => part(`k${index}`, '1'), '')),
  'a part of many lines': (size) => multipart(part('a', '\r\n--fuz'.repeat(size / 7))),
  'a part with many parameters': (size) => multipart(part(`a"; b="${'\\"; c="'.repeat(size / 7)}`, '1')),
  'a part with many headers': (size) =>
    multipart(`--fuzz\r\n${numbered(size, (index) => `X${index}: a`, '\r\n')}\r\n\r\n1\r\n`),
};

/** A good body of the operation, with one of its lists or texts as long as it takes. */
export function ownShapes({ body }: Operation): Record<string, Shape> {
  const least = sampleOf(body ?? {}, root('least'));
  const shapes = Object.entries(body?.properties ?? {}).flatMap(([name, schema]): [string, Shape][] => {
    const sized = sizedValue(name, schema);
    return sized === null
      ? []
      : [[`a long ${name}`, (size) => json(jsonOf({ ...(least as object), [name]: sized(size) }))]];
  });
  return Object.fromEntries(shapes);
}

/** Makes a list or a text of so many bytes; null where the schema is of neither. */
function sizedValue(name: string, { type, items = {} }: Schema): ((sizeBytes: number) => unknown) | null {
  if (type === 'string') {
    return (size) => 'x'.repeat(size);
  }
  if (type !== 'array') {
    return null;
  }
  const entry = sampleOf(items, { ...root('least'), name });
  const length = jsonOf(entry).length + 1;
  return (size) => Array.from({ length: Math.floor(size / length) }, () => entry);
}

function sampleOf(schema: Schema, place: Place): unknown {
  return fc.sample(valuesOf(schema, place), { numRuns: 1, seed: 1 })[0];
}

/** Pieces with rising numbers until there are so many bytes. */
function numbered(sizeBytes: number, piece: (index: number) => string, separator: string): string {
  const pieces: string[] = [];
  for (let length = 0; length < sizeBytes; length += (pieces.at(-1)?.length ?? 0) + separator.length) {
    pieces.push(piece(pieces.length));
  }
  return pieces.join(separator);
}

function part(name: string, text: string): string {
  return `--fuzz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
}

function json(text: string): Body {
  return { headers: [['Content-Type', CONTENT_TYPES.json[0] ?? '']], body: { encoding: 'json', text } };
}

function form(text: string): Body {
  return { headers: [['Content-Type', CONTENT_TYPES.form[0] ?? '']], body: { encoding: 'form', text } };
}

function multipart(parts: string): Body {
  const text = `${parts}--fuzz--\r\n`;
  return { headers: [['Content-Type', CONTENT_TYPES.multipart[0] ?? '']], body: { encoding: 'multipart', text } };
}
