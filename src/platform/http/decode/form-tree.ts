import { DecodeError } from './decode-error.ts';

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

/** Adds the text of a field at the position of its segments (rule 5). @throws DecodeError 400 if it contradicts earlier fields */
export function place(root: Branch, segments: string[], text: string): void {
  const path: Path = [];
  let branch = root;
  for (const [level, segment] of segments.entries()) {
    const key = level === 0 ? segment : toKey(branch, segment, path);
    path.push(key);
    const child = branch.children.get(key);
    const isLast = level === segments.length - 1;
    if (typeof child === 'string' && isLast) {
      throw new DecodeError(400, path.join('.'), 'is given more than once');
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
    throw new DecodeError(400, path.join('.'), `has an index above ${MAX_INDEX}`);
  }
  branch.nextIndex = Math.max(branch.nextIndex, index + 1);
  return index;
}

function isList(branch: Branch): boolean {
  return typeof branch.children.keys().next().value === 'number';
}

function conflict(path: Path): DecodeError {
  return new DecodeError(
    400,
    path.join('.'),
    'is given in two forms, for example as a text and as an object. Send only one form',
  );
}
