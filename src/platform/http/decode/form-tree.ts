import { DecodeError } from './decode-error.ts';

const MAX_INDEX = 1_000;

type Path = Array<string | number>;

/** Object or list of a form. It is a list if its keys are numbers, in any order and with gaps. */
interface Branch {
  readonly children: Map<string | number, string | Branch>;
  /** Index of the next entry that a name with empty brackets appends. It is one more than the highest index so far. */
  nextIndex: number;
}

/** Returns a node without children. The first child decides if this node is an object or a list. */
export function newBranch(): Branch {
  return { children: new Map(), nextIndex: 0 };
}

/** Adds the text of a field at the position of its segments (decision 5). @throws DecodeError 400 if it contradicts earlier fields */
export function place(root: Branch, segments: string[], text: string): void {
  const path: Path = [];
  let branch = root;
  for (const [level, segment] of segments.entries()) {
    const key = level === 0 ? segment : toKey(branch, segment, path);
    path.push(key);
    if (level === segments.length - 1) {
      refuseRepetition(branch.children.get(key), path);
      branch.children.set(key, text);
    } else {
      branch = enter(branch, key, path);
    }
  }
}

function refuseRepetition(child: string | Branch | undefined, path: Path): void {
  if (typeof child === 'string') {
    throw new DecodeError(400, path.join('.'), 'is given more than once');
  }
  if (child !== undefined) {
    throw conflict(path);
  }
}

function enter(branch: Branch, key: string | number, path: Path): Branch {
  const child = branch.children.get(key) ?? newBranch();
  if (typeof child === 'string') {
    throw conflict(path);
  }
  branch.children.set(key, child);
  return child;
}

/** Returns the tree as a plain object. In its lists, the entries are in the order of their indices, and a missing index leaves no gap. */
export function toObject(branch: Branch): Record<string, unknown> {
  // `fromEntries` only defines own properties, so a field named `__proto__` cannot change a prototype.
  return Object.fromEntries([...branch.children].map(([key, child]) => [key, toValue(child)]));
}

function toList(branch: Branch): unknown[] {
  return [...branch.children].sort(([a], [b]) => Number(a) - Number(b)).map(([, child]) => toValue(child));
}

function toValue(node: string | Branch): unknown {
  if (typeof node === 'string') {
    return node;
  }
  return isList(node) ? toList(node) : toObject(node);
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
