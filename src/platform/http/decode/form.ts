import { undecodable } from '../undecodable.ts';
import { newBranch, place, toValue } from './form-tree.ts';
import { decodeJson, decodeUtf8, refuseBadText } from './text.ts';

/** A useful form has some thousands of fields, but the body could hold far more. */
export const MAX_FIELDS = 20_000;
/** Any other text is used unchanged, because the whole form has already been checked to be UTF-8. */
const NEEDS_DECODING = /[%+\0]/;

/** Builds one object of texts, because only `convertText` knows the schema. @throws ApiError 400 if names are malformed or contradict */
export function decodeForm(fields: Iterable<[name: string, value: string]>): Record<string, unknown> {
  const root = newBranch();
  for (const [name, value] of fields) {
    place(root, name, value);
  }
  return toValue(root) as Record<string, unknown>;
}

/** Decodes a urlencoded body or a query into its fields. Refuses faults in the encoding. @throws ApiError 400 */
export function decodeUrlEncoded(encoded: Buffer | string, what: 'body' | 'query'): Array<[string, string]> {
  const text = typeof encoded === 'string' ? encoded : decodeUtf8(encoded, what);
  const pieces = text.split('&', MAX_FIELDS + 1);
  if (pieces.length > MAX_FIELDS) {
    throw undecodable(what, `contains more than ${MAX_FIELDS} fields`);
  }
  return pieces.filter((piece) => piece !== '').map((piece) => decodePair(piece, what));
}

/** Decodes a query. Node reads it as Latin-1, so a character outside ASCII is refused. @throws ApiError 400 */
export function decodeQuery(rawQuery: string): Record<string, string> {
  if (/[\u0080-\uffff]/.test(rawQuery)) {
    throw undecodable('query', 'must be percent-encoded');
  }
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of decodeUrlEncoded(rawQuery, 'query')) {
    if (name in query) {
      throw undecodable(name, 'is given more than once');
    }
    query[name] = value;
  }
  return query;
}

function decodePair(piece: string, what: string): [string, string] {
  const equals = piece.indexOf('=');
  const name = decodePart(equals === -1 ? piece : piece.slice(0, equals), what);
  return [name, decodePart(equals === -1 ? '' : piece.slice(equals + 1), name || what)];
}

function decodePart(part: string, where: string): string {
  if (!NEEDS_DECODING.test(part)) {
    return part;
  }
  let decoded: string;
  try {
    // This is strict enough: it refuses a percent sign without two hex digits, and invalid UTF-8.
    decoded = decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw undecodable(where, 'is not valid percent-encoded UTF-8');
  }
  refuseBadText(decoded, where);
  return decoded;
}

const OPENING_BRACE = '{'.charCodeAt(0);

/** Refuses JSON with the content type of a form, which `curl --data` sends by default. @throws ApiError 400 */
export function refuseJson(bytes: Buffer): void {
  if (bytes[0] === OPENING_BRACE && isJson(bytes)) {
    throw undecodable('body', 'is JSON, but its Content-Type is that of a form. Set Content-Type to application/json');
  }
}

function isJson(bytes: Buffer): boolean {
  try {
    decodeJson(bytes);
    return true;
  } catch {
    return false;
  }
}
