import type { HttpCase } from './cases.ts';
import { encode, type Encoding, jsonOf } from './encodings.ts';
import { CONTENT_TYPES, RAW } from './hostile.ts';
import { ELEMENTS, exampleOf, type ListPlace, listOf, listsIn } from './lists.ts';
import type { Operation, Schema } from './operations.ts';
import { root } from './values.ts';

/** With this value, a form of 1 MiB has fewer than 20,000 fields. With more, the service refuses it before it decodes them. */
const FILLER = '1'.repeat(45);

type Body = Pick<HttpCase, 'headers' | 'body'>;
export type Shape = (sizeBytes: number) => Body;

/** Kinds of bodies for which a careless decoder or validator needs too much time. */
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

/** Kinds of bodies that are like a valid body of the operation, but have one long text or one long list. */
export function ownShapes({ body }: Operation): Record<string, Shape> {
  if (body === null) {
    return {};
  }
  return Object.fromEntries([...textShapes(body), ...listsIn(body, root('least')).flatMap(listShapes)]);
}

function textShapes(body: Schema): [string, Shape][] {
  const least = exampleOf(body, root('least')) as object;
  const texts = Object.entries(body.properties ?? {}).filter(([, { type }]) => type === 'string');
  return texts.map(([name]) => [`a long ${name}`, (size) => json(jsonOf({ ...least, [name]: 'x'.repeat(size) }))]);
}

function listShapes(list: ListPlace): [string, Shape][] {
  const { name, around } = list;
  const kinds = Object.keys(ELEMENTS).map((kind): [string, Shape] => [
    `${kind} ${name}`,
    (size) => json(jsonOf(around(listOf(list, kind, size)))),
  ]);
  const percentEncodedTimes = 3;
  return [
    ...kinds,
    [`${name} within ${name}`, (size) => json(jsonOf(around(`${RAW}${'['.repeat(size / 2)}${']'.repeat(size / 2)}`)))],
    [
      `empty ${name} in a field of a form`,
      (size) => form(encode(around(listOf(list, 'empty', size / percentEncodedTimes)), 'form', 'json')),
    ],
  ];
}

/** Joins pieces with the numbers 0, 1, 2 and so on, until the text has about `sizeBytes` bytes. */
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
  return bodyOf('json', text);
}

function form(text: string): Body {
  return bodyOf('form', text);
}

function multipart(parts: string): Body {
  return bodyOf('multipart', `${parts}--fuzz--\r\n`);
}

function bodyOf(encoding: Encoding, text: string): Body {
  return { headers: [['Content-Type', CONTENT_TYPES[encoding][0] ?? '']], body: { encoding, text } };
}
