import assert from 'node:assert/strict';
import { MAX_BODY_BYTES, MAX_STRANGER_BODY_BYTES } from '#platform/lib/bounds.ts';
import type { Encoding } from '../../fuzz/encodings.ts';
import { LEFT_OUT, ListOf, smallestValue, valueWith } from './bodies.ts';
import { closedRules, type Constraint, constraintsOf, requiredRule } from './constraints.ts';
import { INVALID } from './findings.ts';
import { ENCODINGS, forEachOf, type Request, send } from './requests.ts';
import { dry, type Subject } from './subject.ts';

/** Operations that refuse fields that their schema does not name. The documents say so only in words. */
const REFUSES_UNKNOWN_FIELDS = ['replaceMenu'];
/** A form has at most 20,000 fields, so it cannot hold the longest lists. */
const LONGEST_LIST_OF_FORM = 1_001;

/** Sends bodies that cannot be read. */
export async function refuseBodies({ service, operation, caller, request, findings }: Subject): Promise<void> {
  const tooLarge = ' '.repeat(operation.maxBodyBytes + 1);
  const bodies: [type: string, text: string, status: number][] = [
    ['application/json', '{', 400],
    ['application/json', '[]', 400],
    ['application/json', 'null', 400],
    ['application/x-www-form-urlencoded', '%FF=1', 400],
    ['application/x-www-form-urlencoded', '{"a":1}', 400],
    ['multipart/form-data; boundary=x', '--x', 400],
    ['multipart/form-data', '--x--', 400],
    ['text/plain', '{}', 415],
    ['application/json; charset=latin1', '{}', 415],
    ['application/json', tooLarge, 413],
  ];
  for (const [type, text, status] of operation.body === null ? [] : bodies) {
    const answer = await send(service, caller, { ...request, type, body: Buffer.from(text) });
    const codes = status === 400 ? ['invalid_request'] : ['error'];
    findings.checkRefusal(`${type} ${text.slice(0, 9)}`, answer, { status, codes, field: 'body' });
  }
  if ((operation.body?.required ?? []).length > 0) {
    findings.checkRefusal('no body', await send(service, caller, { ...request, body: null }), INVALID);
  }
  if (operation.isConsoleOnly) {
    const answer = await send(service, caller, { ...request, isForeignSite: true });
    findings.checkRefusal('without the header of the console', answer, INVALID);
  }
}

const IGNORED_BODIES: [type: string, text: string][] = [
  ['application/json', '{"reason":"late","id":5}'],
  ['application/json', '{'],
  ['application/json; charset=utf-16', '{}'],
  ['application/x-www-form-urlencoded', '{"a":1}'],
  ['application/x-www-form-urlencoded', 'a=%zz&__proto__=1'],
  ['multipart/form-data', 'a'],
  ['multipart/form-data; boundary=b', '--b\r\n'],
  ['text/plain', 'please'],
  [';', 'a'],
  ['application/octet-stream', 'a'.repeat(MAX_STRANGER_BODY_BYTES)],
];

/**
 * Sends bodies to an operation that takes none, and ignores them (rule 38). So a repeated change is at most a conflict, and repeated test
 * calls are at most too many.
 * @param status that of the response to the smallest request, if it is no success
 */
export async function ignoreBodies(
  { service, operation, caller, request, findings }: Subject,
  status = 200,
): Promise<void> {
  if (operation.body !== null || operation.method === 'GET') {
    return;
  }
  const tooLarge = await send(service, caller, { ...request, body: Buffer.alloc(MAX_BODY_BYTES + 1) });
  findings.checkRefusal('a body that is too large', tooLarge, { status: 413, codes: ['error'] });
  for (const [type, text] of IGNORED_BODIES) {
    const answer = await send(service, caller, { ...request, type, body: Buffer.from(text) });
    findings.check(`the ignored body ${type} ${text.slice(0, 9)}`, () =>
      assert.ok([200, 204, 409, 429, status].includes(answer.status), answer.text),
    );
  }
}

/** Sends query parameters that the API refuses whatever their value, and the number of a page that does not exist. */
export async function refuseParameters({ service, operation, caller, request, findings }: Subject): Promise<void> {
  const { path, parameters } = operation;
  const knowsAll = path.startsWith('/v1/staff/') && parameters.some((parameter) => parameter.in === 'query');
  const tenants = path.startsWith('/v1/third-party/') ? ['tenant_id', 'restaurant_id', 'hotel_id'] : [];
  if (parameters.some(({ name }) => name === 'page')) {
    const answer = await send(service, caller, { ...request, query: { page: 2_147_483_647 } });
    findings.checkRefusal('a page after the last one', answer, { status: 404, codes: ['error'] });
  }
  for (const name of [...(knowsAll ? ['no_such_parameter'] : []), ...tenants]) {
    const answer = await send(service, caller, { ...request, query: { [name]: 'x' } });
    findings.checkRefusal(name, answer, { ...INVALID, field: name });
  }
}

/** Sends the smallest valid request. @param status that of the response, if it is no success */
export async function acceptRequest({ service, caller, request, findings }: Subject, status?: number): Promise<void> {
  const answer = await send(service, caller, dry(request));
  const isExpected = status === undefined ? answer.status < 300 : answer.status === status;
  findings.check('the smallest request', () => assert.ok(isExpected, `${answer.status} ${answer.text}`));
}

/** Rule that a parameter may be given only once. */
function repeatedRule(name: string, value: unknown): Constraint {
  return { rule: 'repeated', path: [name], refused: [[value, value]], accepted: [], takesText: false };
}

/** A rule, and where a request breaks it. */
interface Bound extends Constraint {
  place: Encoding | 'query';
  put: (value: unknown) => Request;
  /** Messages with which values beyond the bound were refused. */
  messages: string[];
}

/** Returns the rules of the query and of the body of an operation, the latter for each content type. */
export function boundsOf({ operation, request }: Subject): Bound[] {
  const body = operation.body ?? {};
  const queries = operation.parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, schema, required }) => [
      ...constraintsOf(schema, [name]),
      ...(required ? [requiredRule([name])] : []),
      repeatedRule(name, smallestValue(schema, request.known, name)),
    ])
    .map((rule) => {
      const [name = ''] = rule.path;
      const put = (value: unknown) => ({ ...request, query: { [name]: asciiOf(value) } });
      return { ...rule, place: 'query' as const, put, messages: [] };
    });
  const rules = [...constraintsOf(body), ...(REFUSES_UNKNOWN_FIELDS.includes(operation.id) ? closedRules(body) : [])];
  const bodies = (operation.body === null ? [] : ENCODINGS).flatMap((encoding) =>
    (encoding === 'json' ? rules : ofEachKind(rules)).map((rule) => {
      const put = (value: unknown) => {
        return { ...request, encoding, body: valueWith(body, request.known, rule.path, value) };
      };
      return { ...rule, place: encoding, put, messages: [] };
    }),
  );
  return [...queries, ...bodies].map(shortened);
}

/** Rules that an operation has broken with each of their values, with the place of the value. */
const tried = new Set<string>();

/**
 * Returns the rule with the values that its place can hold. The first operation with the rule gets all of them. Others get one value beyond
 * the bound and one at it, because the same code decodes and checks the values of all operations.
 */
function shortened(bound: Bound): Bound {
  const refused = bound.refused.filter((value) => isExpressible(bound, value));
  const accepted = bound.accepted.filter((value) => isExpressible(bound, value));
  const kind = JSON.stringify([bound.place, bound.rule, refused, accepted]);
  const count = tried.has(kind) ? 1 : Infinity;
  tried.add(kind);
  return { ...bound, refused: refused.slice(0, count), accepted: accepted.slice(0, count) };
}

/** Number of values beyond a bound, and of values at a bound, that are tried in a form. */
const FORM_VALUES = 3;

/**
 * Returns one of all equal rules at each depth, with a few of its values. A form has the same rules as JSON, and only its decoding differs.
 */
function ofEachKind(rules: Constraint[]): Constraint[] {
  const byKind = new Map(rules.map((rule) => [`${rule.path.length} ${rule.rule}`, rule]));
  return Array.from(byKind.values(), (rule) => ({
    ...rule,
    refused: rule.refused.slice(0, FORM_VALUES),
    accepted: rule.accepted.slice(0, FORM_VALUES),
  }));
}

/** Sends the values beyond the bounds. */
export async function refuseBeyond({ service, caller, findings }: Subject, bounds: Bound[]): Promise<void> {
  await forEachOf(bounds, async (bound) => {
    const field = bound.path.length === 0 ? 'body' : bound.path.join('.');
    for (const value of bound.refused) {
      const answer = await send(service, caller, bound.put(value));
      findings.checkRefusal(shown(bound, value), answer, { ...INVALID, field });
      bound.messages.push(answer.body?.message);
    }
  });
}

/**
 * Sends the values at the bounds. Another rule may refuse them, for example a rule that compares two fields. But the message must not be that
 * for a value beyond the bound.
 */
export async function acceptAt({ service, caller, findings }: Subject, bounds: Bound[]): Promise<void> {
  for (const bound of bounds) {
    for (const value of bound.accepted) {
      const { status, body, text } = await send(service, caller, dry(bound.put(value)));
      const isRefused = status >= 500 || (status === 400 && bound.messages.includes(body.message));
      findings.check(shown(bound, value), () => assert.ok(!isRefused, text));
    }
  }
}

/** Returns true if the place can hold the value. A form and a query hold only texts, so they have neither null nor a wrong type of text. */
function isExpressible({ place, takesText, rule }: Bound, value: unknown): boolean {
  if (place === 'json' || rule === 'repeated') {
    return true;
  }
  if (value === null || rule === 'minProperties' || (place === 'query' && typeof value === 'object')) {
    return false;
  }
  const isTooLong = value instanceof ListOf && value.length > LONGEST_LIST_OF_FORM;
  const becomesText = takesText && ['number', 'boolean'].includes(typeof value);
  const isConverted = rule.startsWith('type') && ['1', 'true', 1].includes(value as string | number);
  return !isTooLong && !becomesText && !isConverted;
}

/** Returns a text whose percent-encoding is short, because a request line has a bound too. */
function asciiOf(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\u{1d11e}', 'x') : value;
}

function shown({ place, path, rule }: Bound, value: unknown): string {
  const text = value === LEFT_OUT ? 'left out' : JSON.stringify(value);
  return `${place} ${path.join('.')}, ${rule}: ${text.slice(0, 60)}`;
}
