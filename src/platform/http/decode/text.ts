import { isUtf8 } from 'node:buffer';
import { DecodeError } from './decode-error.ts';

const MAX_DEPTH = 32;
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/**
 * Decodes UTF-8 bytes. Checks them first, because `toString` would silently replace bytes that are not UTF-8.
 * @throws DecodeError 400 if the bytes are not UTF-8
 */
export function decodeUtf8(bytes: Buffer, where: string): string {
  if (!isUtf8(bytes)) {
    throw new DecodeError(400, where, 'contains bytes that are not UTF-8');
  }
  return bytes.toString();
}

/**
 * Returns a description of the characters in the text that the database cannot store (decision 2). Returns undefined if it can store the
 * text.
 */
export function findTextFault(text: string): string | undefined {
  if (text.includes('\0')) {
    return 'U+0000';
  }
  return text.isWellFormed() ? undefined : 'half of a surrogate pair';
}

/**
 * Refuses a text that the database cannot store.
 * @throws DecodeError 400
 */
export function refuseBadText(text: string, where: string): void {
  const fault = findTextFault(text);
  if (fault !== undefined) {
    throw new DecodeError(400, where, `contains ${fault}`);
  }
}

/**
 * Decodes a JSON body. Returns undefined if the body is empty.
 * @throws DecodeError 400 if the JSON is malformed, or contains U+0000, half of a surrogate pair, a number too large for a double, or a
 * forbidden key (decisions 2, 5)
 */
export function decodeJson(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : parseJson(decodeUtf8(bytes, 'body'));
}

/**
 * Decodes JSON text. Skips a byte order mark at the start, as RFC 8259 §8.1 allows.
 * @throws DecodeError 400 in the cases of `decodeJson`
 */
export function parseJson(text: string): unknown {
  const value = parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  refuseFaults(value, []);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The error message of `JSON.parse` may quote the body, so the response does not contain this message. The response only gives the
    // position of the fault, if the message contains it.
    const position = error instanceof Error ? /at position \d+/.exec(error.message) : null;
    throw new DecodeError(400, 'body', `is not valid JSON${position ? ` (${position[0]})` : ''}`);
  }
}

/**
 * Refuses a value that contains U+0000, half of a surrogate pair, a number too large for a double, or a forbidden key. The check reads the
 * parsed value, because JSON text can write each of these faults in many ways (`\u0000`, `"\u005f_proto__"`, `1e309`). For an order, the
 * check takes about a microsecond, and parsing takes equally long.
 *
 * The function calls itself for each level of nesting. These calls are bounded, because the value may have at most 32 levels.
 * @throws DecodeError 400
 */
function refuseFaults(value: unknown, path: (string | number)[]): void {
  if (typeof value === 'string') {
    const fault = findTextFault(value);
    if (fault) {
      throw new DecodeError(400, nameOf(path), `contains ${fault}`);
    }
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) {
      throw new DecodeError(400, nameOf(path), 'is a number that is too large');
    }
  } else if (typeof value === 'object' && value !== null) {
    refuseFaultsWithin(value as Record<string, unknown> | unknown[], path);
  }
}

function refuseFaultsWithin(container: Record<string, unknown> | unknown[], path: (string | number)[]): void {
  if (path.length >= MAX_DEPTH) {
    throw new DecodeError(400, 'body', `is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (Array.isArray(container)) {
    for (const [index, entry] of container.entries()) {
      path.push(index);
      refuseFaults(entry, path);
      path.pop();
    }
    return;
  }
  for (const key of Object.keys(container)) {
    if (FORBIDDEN_KEYS.has(key)) {
      throw new DecodeError(400, nameOf(path), `must not contain the key ${key}`);
    }
    const fault = findTextFault(key);
    if (fault) {
      throw new DecodeError(400, nameOf(path), `contains a key with ${fault}`);
    }
    path.push(key);
    refuseFaults(container[key], path);
    path.pop();
  }
}

function nameOf(path: (string | number)[]): string {
  return path.join('.') || 'body';
}
