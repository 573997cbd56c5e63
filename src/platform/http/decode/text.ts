import { isUtf8 } from 'node:buffer';
import { undecodable } from '../undecodable.ts';

const MAX_DEPTH = 32;
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/** Decodes UTF-8 bytes. `toString` would silently replace other bytes. @throws ApiError 400 */
export function decodeUtf8(bytes: Buffer, where: string): string {
  if (!isUtf8(bytes)) {
    throw undecodable(where, 'contains bytes that are not UTF-8');
  }
  return bytes.toString();
}

/** Returns which characters of the text the database cannot store (rule 2), or undefined. */
export function findTextFault(text: string): string | undefined {
  if (text.includes('\0')) {
    return 'U+0000';
  }
  return text.isWellFormed() ? undefined : 'half of a surrogate pair';
}

/** Refuses a text that the database cannot store. @throws ApiError 400 */
export function refuseBadText(text: string, where: string): void {
  const fault = findTextFault(text);
  if (fault !== undefined) {
    throw undecodable(where, `contains ${fault}`);
  }
}

/** Decodes a JSON body. Returns undefined if it is empty. @throws ApiError 400 (rules 2, 5) */
export function decodeJson(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : parseJson(decodeUtf8(bytes, 'body'));
}

/** Decodes JSON text, without a byte order mark (RFC 8259 §8.1). @throws ApiError 400 */
export function parseJson(text: string): unknown {
  const value = parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  refuseFaults(value, []);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The error message of `JSON.parse` may quote the body, so the response only gives its position.
    const position = error instanceof Error ? /at position \d+/.exec(error.message) : null;
    throw undecodable('body', `is not valid JSON${position ? ` (${position[0]})` : ''}`);
  }
}

/** Reads the parsed value, because JSON text can write each fault in many ways (`\u0000`, `"\u005f_proto__"`, `1e309`). */
function refuseFaults(value: unknown, path: string[]): void {
  if (typeof value === 'string') {
    const fault = findTextFault(value);
    if (fault) {
      throw undecodable(nameOf(path), `contains ${fault}`);
    }
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) {
      throw undecodable(nameOf(path), 'is a number that is too large');
    }
  } else if (typeof value === 'object' && value !== null) {
    refuseFaultsWithin(value, path);
  }
}

function refuseFaultsWithin(container: object, path: string[]): void {
  if (path.length >= MAX_DEPTH) {
    throw undecodable('body', `is nested deeper than ${MAX_DEPTH} levels`);
  }
  for (const [key, entry] of Object.entries(container as Record<string, unknown>)) {
    if (FORBIDDEN_KEYS.has(key)) {
      throw undecodable(nameOf(path), `must not contain the key ${key}`);
    }
    const fault = findTextFault(key);
    if (fault) {
      throw undecodable(nameOf(path), `contains a key with ${fault}`);
    }
    path.push(key);
    refuseFaults(entry, path);
    path.pop();
  }
}

function nameOf(path: string[]): string {
  return path.join('.') || 'body';
}
