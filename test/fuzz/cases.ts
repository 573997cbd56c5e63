import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Encoding } from './encodings.ts';

/** Who sends a request; what that means in headers is for the world to say. */
export const ACTORS = [
  'nobody',
  'partner',
  'pms',
  'owner',
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

/** A request by HTTP's rules, with stand-ins (`REF-…`) for what only the running service knows. */
export interface HttpCase {
  kind: 'http';
  operation: string;
  actor: Actor;
  method: string;
  target: string;
  headers: [name: string, value: string][];
  /** The text says in which encoding stand-ins are written. Texts are UTF-8 on the wire, `bytes` one byte a character. */
  body: { encoding: Encoding | 'bytes'; text: string } | null;
  isChunked: boolean;
}

/** Bytes on a socket, one a character, in pieces with a pause between them. */
export interface RawCase {
  kind: 'raw';
  actor: Actor;
  pieces: string[];
  pauseMs: number;
  /** What the client does after the last piece: ends its half of the connection, or leaves. */
  ending: 'half-close' | 'leave';
  /** How many answers there must be at least. */
  answersDue: number;
}

export type Case = HttpCase | RawCase;

/** A case as one word for a command line. */
export function toLine(each: Case): string {
  return deflateRawSync(JSON.stringify(each)).toString('base64url');
}

/** @throws Error where the line is not whole */
export function fromLine(line: string): Case {
  return JSON.parse(inflateRawSync(Buffer.from(line, 'base64url')).toString()) as Case;
}

/** A case as a person reads it, cut short. */
export function describeCase(each: Case): string {
  if (each.kind === 'raw') {
    return `${each.actor}: ${JSON.stringify(each.pieces).slice(0, 400)}, then ${each.ending}`;
  }
  const { actor, method, target, headers, body } = each;
  const shown = headers.map(([name, value]) => `${name}: ${value.slice(0, 60)}`).join(', ');
  return `${actor}: ${method} ${target.slice(0, 200)} {${shown}} ${body?.text.slice(0, 400) ?? ''}`;
}
