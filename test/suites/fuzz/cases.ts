import type { Encoding } from './encodings.ts';

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
  actor: Actor;
  method: string;
  target: string;
  headers: [name: string, value: string][];
  /**
   * With the encoding `bytes`, each character of `text` is sent as one byte. Otherwise each placeholder is replaced by its value in this
   * encoding, and the text is sent as UTF-8.
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
  /** After the last piece, `half-close` ends only the sending side of the client, and `leave` destroys the connection. */
  ending: 'half-close' | 'leave';
  answersDue: number;
}

export type Case = HttpCase | RawCase;

export function describeCase(each: Case): string {
  if (each.kind === 'raw') {
    return `${each.actor}: ${JSON.stringify(each.pieces).slice(0, 400)}, then ${each.ending}`;
  }
  const { actor, method, target, headers, body } = each;
  const shown = headers.map(([name, value]) => `${name}: ${value.slice(0, 60)}`).join(', ');
  return `${actor}: ${method} ${target.slice(0, 200)} {${shown}} ${body?.text.slice(0, 400) ?? ''}`;
}
