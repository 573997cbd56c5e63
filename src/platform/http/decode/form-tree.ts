import { undecodable } from '../undecodable.ts';

/** Maximum number of levels of nesting in a field name (rule 5). For example, `items[0][item_id]` has two levels, `0` and `item_id`. */
const MAX_DEPTH = 10;
const FORBIDDEN_SEGMENTS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const FIRST_SEGMENT = /[^.[\]]+/y;
/** Matches the next segment of a field name: `[key]`, `.key`, or a key directly after a closing bracket, as in `items[0]item_id`. */
const NEXT_SEGMENT = /\[([^[\]]*)\]|\.?([^.[\]]+)/y;
const MAX_INDEX = 1_000;

type Path = Array<string | number>;

/** Object or list of a form. It is a list if its keys are numbers, in any order and with gaps. */
interface Branch {
  readonly children: Map<string | number, string | Branch>;
  /** Index of the next entry that a name with empty brackets appends. It is one more than the highest index so far. */
  nextIndex: number;
}

export function newBranch(): Branch {
  return { children: new Map(), nextIndex: 0 };
}

/** Splits `items[0][id]`, `items[0].id`, `items[0]id` or `items.0.id` into its segments (rule 5). @throws ApiError 400 */
function splitFieldName(name: string): string[] {
  const segments: string[] = [];
  for (let end = 0; end < name.length; ) {
    const pattern = end === 0 ? FIRST_SEGMENT : NEXT_SEGMENT;
    pattern.lastIndex = end;
    const match = pattern.exec(name);
    // Empty brackets append a new entry, so it would be unknown if `a[][x]` and `a[][y]` belong to the same one.
    if (!match || segments.at(-1) === '') {
      throw undecodable(name, 'is not a well-formed field name');
    }
    segments.push(match[1] ?? match[2] ?? match[0]);
    end = pattern.lastIndex;
    if (segments.length > MAX_DEPTH + 1) {
      throw undecodable(segments[0] ?? name, `is nested deeper than ${MAX_DEPTH} levels`);
    }
  }
  if (segments.length === 0) {
    throw undecodable('body', 'contains a field without a name');
  }
  const forbidden = segments.find((segment) => FORBIDDEN_SEGMENTS.has(segment));
  if (forbidden !== undefined) {
    throw undecodable(name, `must not contain the name ${forbidden}`);
  }
  return segments;
}

/** Adds the text of a field where its name says (rule 5). @throws ApiError 400 if the name is malformed or contradicts earlier fields */
export function place(root: Branch, name: string, text: string): void {
  const segments = splitFieldName(name);
  const path: Path = [];
  let branch = root;
  for (const [level, segment] of segments.entries()) {
    const key = level === 0 ? segment : toKey(branch, segment, path);
    path.push(key);
    const child = branch.children.get(key);
    const isLast = level === segments.length - 1;
    if (typeof child === 'string' && isLast) {
      throw undecodable(path.join('.'), 'is given more than once');
    }
    if (typeof child === 'string' || (child !== undefined && isLast)) {
      throw conflict(path);
    }
    const next = child ?? newBranch();
    branch.children.set(key, isLast ? text : next);
    branch = next;
  }
}

/** Returns the tree as a plain value. In its lists, the entries are in the order of their indices, and a missing index leaves no gap. */
export function toValue(node: string | Branch): unknown {
  if (typeof node === 'string') {
    return node;
  }
  const entries = Array.from(node.children, ([key, child]) => [key, toValue(child)] as const);
  // `fromEntries` only defines own properties, so a field named `__proto__` cannot change a prototype.
  return isList(node)
    ? entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
    : Object.fromEntries(entries);
}

/** A segment of digits is a list index, and an empty segment (`[]`) the next index of the list. */
function toKey(branch: Branch, segment: string, path: Path): string | number {
  const isIndex = /^\d*$/.test(segment);
  if (branch.children.size > 0 && isIndex !== isList(branch)) {
    throw conflict(path);
  }
  if (!isIndex) {
    return segment;
  }
  const index = segment === '' ? branch.nextIndex : Number(segment);
  if (index > MAX_INDEX) {
    throw undecodable(path.join('.'), `has an index above ${MAX_INDEX}`);
  }
  branch.nextIndex = Math.max(branch.nextIndex, index + 1);
  return index;
}

function isList(branch: Branch): boolean {
  return typeof branch.children.keys().next().value === 'number';
}

function conflict(path: Path): Error {
  return undecodable(
    path.join('.'),
    'is given in two forms, for example as a text and as an object. Send only one form',
  );
}
