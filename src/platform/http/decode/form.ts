import { DecodeError } from './decode-error.ts';
import { splitFieldName } from './field-name.ts';
import { newBranch, place, toObject } from './form-tree.ts';
import { decodeJson, decodeUtf8, refuseBadText } from './text.ts';

/**
 * Maximum number of fields in a form. A useful form, such as a list of 1,000 entries, has at most some thousands of fields. Without this
 * maximum, a body of 1 MiB could hold half a million fields.
 */
export const MAX_FIELDS = 20_000;
/**
 * Matches a text that contains an encoded character or U+0000. Any other text is used unchanged, because the whole form has already been
 * checked to be UTF-8.
 */
const NEEDS_DECODING = /[%+\0]/;

/**
 * Builds one nested object from the fields of a form. The name of a field gives the position of its value in this object (decision 5).
 * Every value stays a text, because only `convertText` knows the schema. The time is linear in the number of fields, because nesting depth
 * and list indices are bounded.
 * @throws DecodeError 400 if a field name is malformed, is repeated, or contradicts another name (for example `a` and `a[b]`)
 */
export function decodeForm(fields: Iterable<[name: string, value: string]>): Record<string, unknown> {
  const root = newBranch();
  for (const [name, value] of fields) {
    place(root, splitFieldName(name), value);
  }
  return toObject(root);
}

/**
 * Decodes an `application/x-www-form-urlencoded` body or a query, and returns its fields in order. Refuses faults in the encoding, and does
 * not repair them.
 * @throws DecodeError 400 on broken percent-encoding, bytes that are not UTF-8, U+0000, or more than 20,000 fields
 */
export function decodeUrlEncoded(encoded: Buffer | string, what: 'body' | 'query'): Array<[string, string]> {
  const text = typeof encoded === 'string' ? encoded : decodeUtf8(encoded, what);
  const pieces = text.split('&', MAX_FIELDS + 1);
  if (pieces.length > MAX_FIELDS) {
    throw new DecodeError(400, what, `contains more than ${MAX_FIELDS} fields`);
  }
  return pieces.filter((piece) => piece !== '').map((piece) => decodePair(piece, what));
}

/**
 * Decodes a query string into its parameters, which are never nested. A character outside ASCII is refused, because Node reads the request
 * line as Latin-1, and the original character cannot be restored.
 * @throws DecodeError 400 in the cases of `decodeUrlEncoded`, and if a parameter is repeated or has a character outside ASCII
 */
export function decodeQuery(rawQuery: string): Record<string, string> {
  if (/[\u0080-\uffff]/.test(rawQuery)) {
    throw new DecodeError(400, 'query', 'must be percent-encoded');
  }
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of decodeUrlEncoded(rawQuery, 'query')) {
    if (name in query) {
      throw new DecodeError(400, name, 'is given more than once');
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
  const decoded = decodePercent(part.replaceAll('+', ' '), where);
  refuseBadText(decoded, where);
  return decoded;
}

/**
 * Decodes percent-encoding. `decodeURIComponent` is strict enough for this. It requires two hex digits after every percent sign, and it
 * refuses invalid UTF-8, including encoded surrogates.
 * @throws DecodeError 400
 */
function decodePercent(text: string, where: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DecodeError(400, where, 'is not valid percent-encoded UTF-8');
  }
}

const OPENING_BRACE = '{'.charCodeAt(0);

/**
 * Refuses JSON that is sent with the content type of a form. For example, `curl --data` sends any body with this content type if the user
 * sets no Content-Type header. Without this check, the JSON would be read as one form field with a strange name. The error message would
 * then only list the fields that are missing.
 * @throws DecodeError 400
 */
export function refuseJson(bytes: Buffer): void {
  if (bytes[0] === OPENING_BRACE && isJson(bytes)) {
    throw new DecodeError(
      400,
      'body',
      'is JSON, but its Content-Type is that of a form. Set Content-Type to application/json',
    );
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
