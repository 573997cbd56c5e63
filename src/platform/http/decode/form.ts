import { DecodeError } from './decode-error.ts';
import { splitFieldName } from './field-name.ts';
import { newBranch, place, toObject } from './form-tree.ts';
import { decodeUtf8, refuseBadText } from './text.ts';

/**
 * The most fields that a form may hold. The largest body the API has a use for, a list of 1,000 entries, needs some
 * thousands; a body of 1 MiB could hold half a million.
 */
export const MAX_FIELDS = 20_000;

/**
 * Builds one nested value from a form's fields, whose names say where each belongs (decision 5). Every leaf stays text:
 * `convertText` knows from the schema what it means. Throws `DecodeError` (400) where names are malformed, given twice,
 * or contradict each other. The time is linear in the number of fields, because depth and indices are bounded.
 */
export function decodeForm(fields: Iterable<[name: string, value: string]>): Record<string, unknown> {
  const root = newBranch();
  for (const [name, value] of fields) {
    place(root, splitFieldName(name), value);
  }
  return toObject(root);
}

/**
 * The fields of an `application/x-www-form-urlencoded` body or query, in order. Strict: throws `DecodeError` (400) on a
 * stray percent sign, on bytes that are not UTF-8, on U+0000 and on more than 20,000 fields.
 */
export function decodeUrlEncoded(encoded: Buffer | string, what: 'body' | 'query'): Array<[string, string]> {
  const text = typeof encoded === 'string' ? encoded : decodeUtf8(encoded, what);
  const pieces = text.split('&', MAX_FIELDS + 1);
  if (pieces.length > MAX_FIELDS) {
    throw new DecodeError(400, what, `holds more than ${MAX_FIELDS} fields`);
  }
  return pieces.filter((piece) => piece !== '').map((piece) => decodePair(piece, what));
}

/**
 * The parameters of a query string, flat. Throws `DecodeError` (400) as above, on a parameter that is given twice, and on
 * characters beyond ASCII: Node reads the request line as Latin-1, so what they were is no longer known.
 */
export function decodeQuery(rawQuery: string): Record<string, string> {
  if (/[\u0080-\uffff]/.test(rawQuery)) {
    throw new DecodeError(400, 'query', 'must be percent-encoded');
  }
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of decodeUrlEncoded(rawQuery, 'query')) {
    if (name in query) {
      throw new DecodeError(400, name, 'given more than once');
    }
    query[name] = value;
  }
  return query;
}

function decodePair(piece: string, what: string): [string, string] {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(piece) ?? [];
  const decodedName = decodePart(name, what);
  return [decodedName, decodePart(value, decodedName || what)];
}

function decodePart(part: string, where: string): string {
  const decoded = decodePercent(part.replaceAll('+', ' '), where);
  refuseBadText(decoded, where);
  return decoded;
}

/** `decodeURIComponent` is as strict as needed: two hex digits after every percent sign, and UTF-8 without surrogates. */
function decodePercent(text: string, where: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DecodeError(400, where, 'is not valid percent-encoded UTF-8');
  }
}
