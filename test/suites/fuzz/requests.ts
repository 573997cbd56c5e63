import fc from 'fast-check';
import { CONSOLE_HEADER } from '#access/sessions/console-cookie.ts';
import { type Content, contents, junk } from './bodies.ts';
import { ACTORS, type Actor, type HttpCase } from './cases.ts';
import { ODD_HEADERS } from './hostile.ts';
import type { Operation } from './operations.ts';
import { targets, wildTargets } from './targets.ts';
import { mostly } from './values.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'];

const nothing = fc.constant(null);
const noHeaders = fc.constant<[string, string][]>([]);
const oddHeaders = fc.constantFrom(...ODD_HEADERS);
/** Only characters that Node's HTTP client can send. The requests of `raw.ts` contain the others. */
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

interface Parts {
  actor: Actor;
  method: string;
  target: string;
  content: Content | null;
  headers: [string, string][];
  isChunked: boolean;
}

/** Generates requests to an operation: valid requests, requests with a few wrong values, and requests that are almost completely random. */
export function requestsTo(operation: Operation): fc.Arbitrary<HttpCase> {
  const { body } = operation;
  const actor = usualActors(operation);
  const method = fc.constant(operation.method);
  const anyActor = fc.constantFrom(...ACTORS);
  const anyMethod = fc.constantFrom(...METHODS);
  const isChunked = mostly(fc.constant(false), fc.constant(true), 8);
  const good = fc.record<Parts>({
    actor,
    method,
    target: targets(operation, 'good'),
    content: body === null ? nothing : contents(body, 'good'),
    headers: noHeaders,
    isChunked,
  });
  const nearlyGood = fc.record<Parts>({
    actor: mostly(actor, anyActor, 6),
    method: mostly(method, anyMethod, 30),
    target: targets(operation, 'spoilt'),
    content: body === null ? mostly<Content | null>(nothing, junk, 20) : contents(body, 'spoilt'),
    headers: mostly(noHeaders, fc.array(oddHeaders, { maxLength: 3 }), 4),
    isChunked,
  });
  const wild = fc.record<Parts>({
    actor: mostly(actor, anyActor, 2),
    method: mostly(method, anyMethod, 3),
    target: fc.oneof(targets(operation, 'spoilt'), wildTargets),
    content: mostly<Content | null>(junk, nothing, 4),
    headers: fc.array(fc.oneof(oddHeaders, wildHeaders), { maxLength: 5 }),
    isChunked: fc.boolean(),
  });
  const parts = fc.oneof(
    { weight: 3, arbitrary: good },
    { weight: 5, arbitrary: nearlyGood },
    { weight: 1, arbitrary: wild },
  );
  return parts.map((each) => toCase(operation, each));
}

/**
 * Returns a valid request without a body. If the operation takes a body, the caller of this function must add it. The
 * request uses only ids of the tenant that sends it. The same seed gives the same request.
 */
export function exampleRequest(operation: Operation, seed: number): HttpCase {
  const [target = operation.path] = fc.sample(targets(operation, 'full'), { numRuns: 1, seed });
  const { method } = operation;
  return toCase(operation, {
    actor: usualActor(operation),
    method,
    target,
    content: null,
    headers: [],
    isChunked: false,
  });
}

function toCase({ isConsoleOnly }: Operation, { content, headers, ...parts }: Parts): HttpCase {
  const type: [string, string][] = content === null || content.type === null ? [] : [['Content-Type', content.type]];
  const fromConsole: [string, string][] = isConsoleOnly ? [[CONSOLE_HEADER, '1']] : [];
  return {
    kind: 'http',
    ...parts,
    headers: [...type, ...fromConsole, ...headers],
    body: content === null ? null : { encoding: content.encoding, text: content.text },
  };
}

function usualActor({ schemes }: Operation): Actor {
  const actors: [string, Actor][] = [
    ['apiKey', 'partner'],
    ['pmsApiKey', 'pms'],
    ['bearer', 'owner'],
    ['channelKey', 'channel'],
  ];
  return actors.find(([scheme]) => schemes.includes(scheme))?.[1] ?? 'anonymous';
}

/** Generates callers for valid requests. Staff, and the owner with a cookie, may call most operations of the owner. */
function usualActors(operation: Operation): fc.Arbitrary<Actor> {
  const usual = fc.constant(usualActor(operation));
  return usualActor(operation) === 'owner'
    ? mostly<Actor>(usual, fc.constantFrom('staff', 'owner with a cookie'), 6)
    : usual;
}
