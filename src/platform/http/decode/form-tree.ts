import { DecodeError } from './decode-error.ts';

const MAX_INDEX = 1_000;

type Path = Array<string | number>;

/** Keys are all strings (an object) or all numbers (a list, in any order and with gaps). */
interface Branch {
  readonly children: Map<string | number, string | Branch>;
  nextIndex: number;
}

/** An empty object or list: its first child decides. */
export function newBranch(): Branch {
  return { children: new Map(), nextIndex: 0 };
}

/**
 * Puts a text where a field's name says. Throws `DecodeError` (400) where another text is there already, where a name
 * makes an object of what another one made a list or a text, and on an index above 1,000 (decision 5).
 */
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
    throw new DecodeError(400, path.join('.'), 'given more than once');
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

/** The root as a plain object; lists are in the order of their indices, without gaps. */
export function toObject(branch: Branch): Record<string, unknown> {
  // `fromEntries` defines own properties only, so no name, whatever it is, reaches a prototype.
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

/** The key that a segment means below a top-level name: digits are an index, nothing is the next free index. */
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
  return new DecodeError(400, path.join('.'), 'given in two ways that contradict each other');
}
