import { DecodeError } from './decode-error.ts';

/** How many levels a field may lie below its top-level name (decision 5). */
const MAX_DEPTH = 10;
const FORBIDDEN_SEGMENTS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const FIRST_SEGMENT = /[^.[\]]+/y;
/** `[key]`, `.key`, or a key that follows a closing bracket directly, as in `items[0]item_id`. */
const NEXT_SEGMENT = /\[([^[\]]*)\]|\.?([^.[\]]+)/y;

/**
 * Splits a form's field name: `items[0][item_id]`, `items[0].item_id` and `items[0]item_id` (decision 5), and also
 * `items.0.item_id`, the way our own messages write it, are all `['items', '0', 'item_id']`. A last `[]` is the
 * segment `''`. Throws `DecodeError` (400) on any other name, a forbidden segment, or too many levels.
 */
export function splitFieldName(name: string): string[] {
  const segments: string[] = [];
  for (let end = 0; end < name.length; ) {
    const pattern = end === 0 ? FIRST_SEGMENT : NEXT_SEGMENT;
    pattern.lastIndex = end;
    const match = pattern.exec(name);
    // Empty brackets append a value. What would lie below them is ambiguous: the next name may mean the same element.
    if (!match || segments.at(-1) === '') {
      throw new DecodeError(400, name, 'is not a well-formed field name');
    }
    segments.push(match[1] ?? match[2] ?? match[0]);
    end = pattern.lastIndex;
    if (segments.length > MAX_DEPTH + 1) {
      throw new DecodeError(400, segments[0] ?? name, `nested deeper than ${MAX_DEPTH} levels`);
    }
  }
  if (segments.length === 0) {
    throw new DecodeError(400, 'body', 'holds a field without a name');
  }
  const forbidden = segments.find((segment) => FORBIDDEN_SEGMENTS.has(segment));
  if (forbidden !== undefined) {
    throw new DecodeError(400, name, `must not hold the name ${forbidden}`);
  }
  return segments;
}
