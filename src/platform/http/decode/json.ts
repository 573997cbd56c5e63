import { DecodeError } from './decode-error.ts';
import { decodeUtf8, findTextFault } from './text.ts';

const MAX_DEPTH = 32;
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/**
 * The value of a JSON body; undefined where the body is empty. Throws `DecodeError` (400) on malformed JSON and on
 * what no field may hold: U+0000, half of a surrogate pair, a number beyond a double, a forbidden key (decisions 2, 5).
 */
export function decodeJson(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : parseJson(decodeUtf8(bytes, 'body'));
}

/** The same for JSON that is text already. A leading byte order mark is skipped, as RFC 8259 §8.1 allows. */
export function parseJson(text: string): unknown {
  const value = parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  refuseFaults(value, []);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message quotes the body, so nothing but the position, where it has one, is taken from it.
    const position = error instanceof Error ? /at position \d+/.exec(error.message) : null;
    throw new DecodeError(400, 'body', `is not valid JSON${position ? ` (${position[0]})` : ''}`);
  }
}

/**
 * Looks at the parsed value and not at its text, where every fault has many spellings (`\u0000`, `"\u005f_proto__"`,
 * `1e309`). An order takes about a microsecond, as much as parsing it. The depth limit bounds the recursion too.
 */
function refuseFaults(value: unknown, path: string[]): void {
  if (typeof value === 'string') {
    const fault = findTextFault(value);
    if (fault) {
      throw new DecodeError(400, nameOf(path), `holds ${fault}`);
    }
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) {
      throw new DecodeError(400, nameOf(path), 'is too large a number');
    }
  } else if (typeof value === 'object' && value !== null) {
    refuseFaultsWithin(value as Record<string, unknown>, path);
  }
}

function refuseFaultsWithin(container: Record<string, unknown>, path: string[]): void {
  if (path.length >= MAX_DEPTH) {
    throw new DecodeError(400, 'body', `nested deeper than ${MAX_DEPTH} levels`);
  }
  for (const key of Object.keys(container)) {
    if (FORBIDDEN_KEYS.has(key)) {
      throw new DecodeError(400, nameOf(path), `must not hold the key ${key}`);
    }
    const fault = findTextFault(key);
    if (fault) {
      throw new DecodeError(400, nameOf(path), `holds a key with ${fault}`);
    }
    path.push(key);
    refuseFaults(container[key], path);
    path.pop();
  }
}

function nameOf(path: string[]): string {
  return path.join('.') || 'body';
}
