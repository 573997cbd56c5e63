import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Encoding } from './encodings.ts';

/**
 * Kinds of callers that send the generated requests. `World.headersOf` returns the headers with which each kind
 * authenticates.
 */
export const ACTORS = [
  'anonymous',
  'partner',
  'pms',
  'owner',
  'owner with a cookie',
  'staff',
  'channel',
  'partner with a wrong secret',
  'pms with a wrong secret',
  'revoked partner',
  'forged owner',
  'channel with a wrong signature',
  'channel of yesterday',
  'partner without features',
  'staff without features',
  'channel without features',
] as const;
export type Actor = (typeof ACTORS)[number];

/** A well-formed HTTP request. Placeholders (`REF-…`) stand for values that only the running service knows, for example ids. */
export interface HttpCase {
  kind: 'http';
  operation: string;
  actor: Actor;
  method: string;
  target: string;
  headers: [name: string, value: string][];
  /**
   * Body of the request. `encoding` is the format of `text`:
   * - If it is `bytes`, each character of `text` is sent as one byte. Placeholders are not replaced.
   * - If it is another format, such as `json`, each placeholder is replaced by its value, encoded for this format. The text is then sent as
   *   UTF-8.
   */
  body: { encoding: Encoding | 'bytes'; text: string } | null;
  isChunked: boolean;
}

/** Bytes that are sent on a socket in pieces, with a pause between them. Each character of a piece is one byte. */
export interface RawCase {
  kind: 'raw';
  actor: Actor;
  pieces: string[];
  pauseMs: number;
  /**
   * Action of the client after the last piece: `half-close` ends only its sending side, and `leave` destroys the
   * connection.
   */
  ending: 'half-close' | 'leave';
  /** Minimum number of responses that the service must send. */
  answersDue: number;
}

export type Case = HttpCase | RawCase;

/** Encodes a case as one word without spaces. On the command line, the word follows `--replay`. */
export function toLine(each: Case): string {
  return deflateRawSync(JSON.stringify(each)).toString('base64url');
}

/**
 * Decodes a case from the text that `toLine` returned for it.
 * @throws Error if the text is incomplete
 */
export function fromLine(line: string): Case {
  return JSON.parse(inflateRawSync(Buffer.from(line, 'base64url')).toString()) as Case;
}

/** Returns a short description of a case for people. */
export function describeCase(each: Case): string {
  if (each.kind === 'raw') {
    return `${each.actor}: ${JSON.stringify(each.pieces).slice(0, 400)}, then ${each.ending}`;
  }
  const { actor, method, target, headers, body } = each;
  const shown = headers.map(([name, value]) => `${name}: ${value.slice(0, 60)}`).join(', ');
  return `${actor}: ${method} ${target.slice(0, 200)} {${shown}} ${body?.text.slice(0, 400) ?? ''}`;
}
