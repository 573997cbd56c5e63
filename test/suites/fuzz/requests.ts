import fc from 'fast-check';
import { CONSOLE_HEADER } from '#access/sessions/console-cookie.ts';
import { ACTORS, type Actor, type HttpCase } from './cases.ts';
import { type Content, contents, junk } from './bodies.ts';
import { ODD_HEADERS } from './hostile.ts';
import type { Operation } from './operations.ts';
import { targets, wildTargets } from './targets.ts';
import { mostly } from './values.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'];

/** Generates requests to an operation: valid requests, requests with a few wrong values, and requests that are almost completely random. */
export function requestsTo(operation: Operation): fc.Arbitrary<HttpCase> {
  return fc.oneof(
    { weight: 3, arbitrary: goodRequests(operation) },
    { weight: 5, arbitrary: nearlyGoodRequests(operation) },
    { weight: 1, arbitrary: wildRequests(operation) },
  );
}

/**
 * Returns a valid request without a body. If the operation takes a body, the caller of this function must add it. The
 * request uses only ids of the tenant that sends it. The same seed gives the same request.
 */
export function exampleRequest(operation: Operation, seed: number): HttpCase {
  const [target = operation.path] = fc.sample(targets(operation, 'full'), { numRuns: 1, seed });
  const parts = { actor: usualActor(operation), target, content: null, isChunked: false };
  return toCase(operation, operation.method, parts);
}

/** Generates requests whose parameters and body fit their schemas. */
function goodRequests(operation: Operation): fc.Arbitrary<HttpCase> {
  return fc
    .record({
      actor: usualActors(operation),
      target: targets(operation, 'good'),
      content: operation.body === null ? fc.constant(null) : contents(operation.body, 'good'),
      isChunked: oneIn(8),
    })
    .map((parts) => toCase(operation, operation.method, parts));
}

function nearlyGoodRequests(operation: Operation): fc.Arbitrary<HttpCase> {
  return fc
    .record({
      actor: mostly(usualActors(operation), fc.constantFrom(...ACTORS), 6),
      method: mostly(fc.constant(operation.method), fc.constantFrom(...METHODS), 30),
      target: targets(operation, 'spoilt'),
      content: operation.body === null ? mostly(fc.constant(null), junk, 20) : contents(operation.body, 'spoilt'),
      headers: mostly(noHeaders, fc.array(fc.constantFrom(...ODD_HEADERS), { maxLength: 3 }), 4),
      isChunked: oneIn(8),
    })
    .map((parts) => toCase(operation, parts.method, parts));
}

function wildRequests(operation: Operation): fc.Arbitrary<HttpCase> {
  return fc
    .record({
      actor: mostly(usualActors(operation), fc.constantFrom(...ACTORS), 2),
      method: mostly(fc.constant(operation.method), fc.constantFrom(...METHODS), 3),
      target: fc.oneof(targets(operation, 'spoilt'), wildTargets),
      content: mostly(junk, fc.constant(null), 4),
      headers: fc.array(fc.oneof(fc.constantFrom(...ODD_HEADERS), wildHeaders), { maxLength: 5 }),
      isChunked: fc.boolean(),
    })
    .map((parts) => toCase(operation, parts.method, parts));
}

const noHeaders = fc.constant<[string, string][]>([]);

interface Parts {
  actor: Actor;
  target: string;
  content: Content | null;
  headers?: [string, string][];
  isChunked: boolean;
}

function toCase(operation: Operation, method: string, parts: Parts): HttpCase {
  const { actor, target, content, headers = [], isChunked } = parts;
  const type: [string, string][] = content === null || content.type === null ? [] : [['Content-Type', content.type]];
  const fromConsole: [string, string][] = operation.isConsoleOnly ? [[CONSOLE_HEADER, '1']] : [];
  return {
    kind: 'http',
    operation: operation.id,
    actor,
    method,
    target,
    headers: [...type, ...fromConsole, ...headers],
    body: content === null ? null : { encoding: content.encoding, text: content.text },
    isChunked,
  };
}

/** Returns the kind of caller for which the operation is intended. */
function usualActor({ schemes }: Operation): Actor {
  if (schemes.includes('apiKey')) {
    return 'partner';
  }
  if (schemes.includes('pmsApiKey')) {
    return 'pms';
  }
  if (schemes.includes('bearer')) {
    return 'owner';
  }
  return schemes.includes('channelKey') ? 'channel' : 'anonymous';
}

/**
 * Generates callers for valid requests to the operation. Usually this is the caller for which the operation is intended. If this caller
 * is the owner with a token, one request in six comes from staff or from the owner with a session cookie. These two may also call most
 * operations of the owner.
 */
function usualActors(operation: Operation): fc.Arbitrary<Actor> {
  const usual = usualActor(operation);
  return usual === 'owner'
    ? mostly(fc.constant(usual), fc.constantFrom('staff', 'owner with a cookie'), 6)
    : fc.constant(usual);
}

/**
 * Random headers. They contain only characters that Node's HTTP client can send. The requests of `raw.ts` contain the other characters,
 * because they are sent through a bare socket.
 */
const wildHeaders = fc.tuple(
  fc
    .stringMatching(/^[A-Za-z-]{1,20}$/)
    .filter(
      (name) => !/^(host|connection|content-length|transfer-encoding|expect|upgrade|trailer|keep-alive)$/i.test(name),
    ),
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 60,
  }),
);

function oneIn(soMany: number): fc.Arbitrary<boolean> {
  return mostly(fc.constant(false), fc.constant(true), soMany);
}
