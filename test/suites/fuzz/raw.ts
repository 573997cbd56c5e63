import fc from 'fast-check';
import type { RawCase } from './cases.ts';
import { mostly } from './values.ts';

export const HEADERS = 'X-Actor: headers\r\n';

const HOST = 'Host: fuzz\r\n';
const ORDERS = '/v1/third-party/orders/';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const ORDER = '{"external_order_id":"raw","items":[{"item_id":"PIZZA-1","quantity":1}]}';
const LONG_BODY = ' '.repeat(70_000);

function post(headers: string, body: string): string {
  return `POST ${ORDERS} HTTP/1.1\r\n${HOST}${HEADERS}${JSON_TYPE}${headers}\r\n${body}`;
}

function withLength(body: string, headers = ''): string {
  return post(`${headers}Content-Length: ${body.length}\r\n`, body);
}

function inChunks(body: string, size: number, { extension = '', trailers = '' } = {}): string {
  const chunks = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const written = chunks.map((chunk) => `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`).join('');
  return post('Transfer-Encoding: chunked\r\n', `${written}0\r\n${trailers}\r\n`);
}

/** Complete requests. The server sends one response to each. */
const GOOD = [
  `GET /livez HTTP/1.1\r\n${HOST}\r\n`,
  `GET /v1/third-party/menu/ HTTP/1.1\r\n${HOST}${HEADERS}\r\n`,
  `GET ${ORDERS} HTTP/1.1\r\n${HOST}${HEADERS}Content-Length: 3\r\n\r\n{{{`,
  `GET http://elsewhere.example${ORDERS}?page=1 HTTP/1.1\r\n${HOST}${HEADERS}\r\n`,
  `\r\n\r\nGET /readyz/ HTTP/1.1\r\n${HOST}\r\n`,
  `DELETE ${ORDERS} HTTP/1.1\r\n${HOST}${HEADERS}Content-Length: 2\r\n\r\n{}`,
  `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  `GET /${'%2F'.repeat(500)} HTTP/1.1\r\n${HOST}\r\n`,
  withLength(ORDER),
  withLength(''),
  withLength(ORDER, 'Expect: 100-continue\r\n'),
  withLength(LONG_BODY),
  inChunks(ORDER, 1),
  inChunks(ORDER, 7, { extension: ';name="value"' }),
  inChunks(ORDER, 50, { trailers: 'X-Trailer: a\r\nX-API-Key: b\r\n' }),
  inChunks(LONG_BODY, 9),
];

/** Texts that are not a valid request, or that two servers could read as different requests. The server refuses each. */
const BAD = [
  'hello\r\n\r\n',
  '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET\r\n\r\n',
  'GET /livez\r\n\r\n',
  `GET /livez HTTP/9.9\r\n${HOST}\r\n`,
  `GET /livez HTTP/1.1 \r\n${HOST}\r\n`,
  `GET  /livez HTTP/1.1\r\n${HOST}\r\n`,
  `GET /liv\0ez HTTP/1.1\r\n${HOST}\r\n`,
  `GET /liv\xffez HTTP/1.1\r\n${HOST}\r\n`,
  `get /livez HTTP/1.1\r\n${HOST}\r\n`,
  `BREW /livez HTTP/1.1\r\n${HOST}\r\n`,
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`,
  `GET /livez HTTP/1.1\nHost: fuzz\n\n`,
  `GET /livez HTTP/1.1\r\n${HOST}X-A: a\r\n b\r\n\r\n`,
  `GET /livez HTTP/1.1\r\n${HOST}X-A : a\r\n\r\n`,
  `GET /livez HTTP/1.1\r\n${HOST}: a\r\n\r\n`,
  `GET /livez HTTP/1.1\r\n${HOST}X-A: a\0\r\n\r\n`,
  `GET /livez HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(20_000)}\r\n\r\n`,
  `GET /livez HTTP/1.1\r\n${HOST}${'X-A: a\r\n'.repeat(2_500)}\r\n`,
  `CONNECT fuzz:443 HTTP/1.1\r\n${HOST}\r\n`,
  post('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  post('Content-Length: 2\r\nContent-Length: 3\r\n', '{} '),
  post('Content-Length: -1\r\n', ''),
  post('Content-Length: 0x2\r\n', '{}'),
  post('Content-Length: 99999999999999999999\r\n', '{}'),
  post('Content-Length: 100\r\n', '{}'),
  post('Transfer-Encoding: gzip, chunked, gzip\r\n', '0\r\n\r\n'),
  post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', 'ZZ\r\n{}\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '2\r\n{}}\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', 'ffffffffffffffffff\r\n{}\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '2\r\n{}\r\n'),
  post('Transfer-Encoding: chunked\r\n', `2;${'e'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  post('Transfer-Encoding: chunked\r\n', `2\r\n{}\r\n0\r\nX-T: ${'t'.repeat(20_000)}\r\n\r\n`),
  inChunks(ORDER, 50, { trailers: 'Content-Length: 5\r\n' }),
  `GET /livez HTTP/1.1\r\n\r\n`,
  `GET /livez HTTP/1.1\r\n${HOST}${HOST}\r\n`,
  `GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n`,
  `GET /livez HTTP/1.1\r\nHost: \xff\r\n\r\n`,
  post('Expect: a-miracle\r\nContent-Length: 2\r\n', '{}'),
];

const actors = fc.constantFrom('partner' as const, 'partner' as const, 'anonymous' as const, 'owner' as const);
const cuts = fc.array(fc.nat({ max: 100 }), { maxLength: 4 });
const pauses = mostly(fc.constant(0), fc.integer({ min: 1, max: 20 }), 6);
const endings = mostly<RawCase['ending']>(fc.constant('half-close'), fc.constant('leave'), 10);

/** Up to three valid requests on one connection, and sometimes an invalid request, a changed copy of a request, or random bytes. */
export const rawCases: fc.Arbitrary<RawCase> = fc
  .record({
    actor: actors,
    good: fc.array(fc.constantFrom(...GOOD), { maxLength: 3 }),
    last: fc.option(fc.oneof(fc.constantFrom(...BAD), fc.constantFrom(...GOOD, ...BAD).chain(mutated), junk())),
    cuts,
    pauseMs: pauses,
    ending: endings,
  })
  .map(({ actor, good, last, cuts: at, pauseMs, ending }) => ({
    kind: 'raw',
    actor,
    pieces: cutUp(good.join('') + (last ?? ''), at),
    pauseMs,
    ending,
    // Only empty lines are not a request and get no response.
    answersDue: ending === 'leave' ? 0 : good.length + (/[^\r\n]/.test(last ?? '') ? 1 : 0),
  }));

/** Each text of `BAD` and `GOOD`, alone and after a valid request. */
export const namedRawCases: RawCase[] = [...BAD, ...GOOD].flatMap((bytes) =>
  ['', GOOD[1] ?? ''].map((before) => ({
    kind: 'raw',
    actor: 'partner',
    pieces: [before + bytes],
    pauseMs: 0,
    ending: 'half-close',
    answersDue: before === '' ? 1 : 2,
  })),
);

/** A few bytes are inserted, removed or repeated, or the end is cut off. */
function mutated(bytes: string): fc.Arbitrary<string> {
  const at = fc.nat({ max: Math.min(bytes.length, 400) });
  const letters = fc.constantFrom(...Array.from('\0\r\n \t:\xff\x7f;,0/'), '\r\n', 'GET / HTTP/1.1\r\n\r\n');
  return fc.oneof(
    fc.tuple(at, letters).map(([index, letter]) => bytes.slice(0, index) + letter + bytes.slice(index)),
    fc.tuple(at, fc.nat({ max: 6 })).map(([index, count]) => bytes.slice(0, index) + bytes.slice(index + count)),
    fc.tuple(at, fc.nat({ max: 40 })).map(([index, count]) => bytes.slice(0, index + count) + bytes.slice(index)),
    at.map((index) => bytes.slice(0, index)),
  );
}

function junk(): fc.Arbitrary<string> {
  return fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
}

/** @param at the positions of the cuts, in percent of the length */
function cutUp(bytes: string, at: number[]): string[] {
  const places = [...at].sort((a, b) => a - b).map((percent) => Math.floor((bytes.length * percent) / 100));
  return [0, ...places].map((from, index) => bytes.slice(from, places[index] ?? bytes.length));
}
