import { DecodeError } from './decode-error.ts';

/** Maximum number of levels of nesting in a field name (rule 5). For example, `items[0][item_id]` has two levels, `0` and `item_id`. */
const MAX_DEPTH = 10;
const FORBIDDEN_SEGMENTS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const FIRST_SEGMENT = /[^.[\]]+/y;
/** Matches the next segment of a field name: `[key]`, `.key`, or a key directly after a closing bracket, as in `items[0]item_id`. */
const NEXT_SEGMENT = /\[([^[\]]*)\]|\.?([^.[\]]+)/y;

/** Splits `items[0][id]`, `items[0].id`, `items[0]id` or `items.0.id` into its segments (rule 5). @throws DecodeError 400 */
export function splitFieldName(name: string): string[] {
  const segments: string[] = [];
  for (let end = 0; end < name.length; ) {
    const pattern = end === 0 ? FIRST_SEGMENT : NEXT_SEGMENT;
    pattern.lastIndex = end;
    const match = pattern.exec(name);
    // Empty brackets append a new entry, so it would be unknown if `a[][x]` and `a[][y]` belong to the same one.
    if (!match || segments.at(-1) === '') {
      throw new DecodeError(400, name, 'is not a well-formed field name');
    }
    segments.push(match[1] ?? match[2] ?? match[0]);
    end = pattern.lastIndex;
    if (segments.length > MAX_DEPTH + 1) {
      throw new DecodeError(400, segments[0] ?? name, `is nested deeper than ${MAX_DEPTH} levels`);
    }
  }
  if (segments.length === 0) {
    throw new DecodeError(400, 'body', 'contains a field without a name');
  }
  const forbidden = segments.find((segment) => FORBIDDEN_SEGMENTS.has(segment));
  if (forbidden !== undefined) {
    throw new DecodeError(400, name, `must not contain the name ${forbidden}`);
  }
  return segments;
}
