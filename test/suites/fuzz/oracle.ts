import type { ErrorCode } from '#platform/errors.ts';
import { findFaults } from '#platform/lib/validation.ts';
import { findOperation } from '../../support/openapi-documents.ts';
import type { Operation } from './operations.ts';
import { isEventStream, type Outcome, type Sent } from './send.ts';
import type { World } from './world.ts';

/** HTTP status of each error code, or null for a code that has several statuses. */
const STATUS_BY_CODE: Record<ErrorCode, number | null> = {
  error: null,
  invalid_request: 400,
  item_not_found: 400,
  variant_not_found: 400,
  addon_not_found: 400,
  invalid_credentials: 401,
  order_not_found: 404,
  room_type_not_found: 404,
  reservation_not_found: 404,
  room_not_available: 409,
  restaurant_closed: 409,
  invalid_status_transition: 409,
  rate_limited: 429,
};
/** Error statuses with which the service may refuse a request. Any other is a fault. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 417, 429, 431]);
const DUE_HEADERS: Record<number, string> = { 401: 'www-authenticate', 405: 'allow', 429: 'retry-after' };
/** A body of 64 KiB can have many faults, and the message lists them all. */
const LONGEST_MESSAGE = 4 * 1024 * 1024;
const SANE_ID = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/** Internal texts that no response may show: stack traces, SQL, messages of PostgreSQL, file paths, network errors. */
const INSIDE =
  /\n\s+at |\bat \S+ \(|\b(?:file|node):\/?\/|node_modules|\.[cm]?[jt]s:\d+|\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE) |violates|duplicate key|syntax error at|invalid input syntax|out of range for type|(?:relation|column) "|\bpg_|\b[Pp]ostgres|\bkysely\b|\bajv\b|\bfastify\b|\bE(?:CONNRE\w+|PIPE|NOENT)\b|\/(?:usr|tmp|var|home|root|src)\//;

type Answered = Extract<Outcome, { kind: 'answer' }>;

export function faultsOf(world: World, operations: Operation[], sent: Sent, outcome: Outcome): string[] {
  if (outcome.kind === 'fault') {
    // If the target is invalid, the server responds before it knows the method. The HTTP client reports a body after HEAD as an error.
    return sent.method === 'HEAD' && !hasPlainTarget(sent) ? [] : [outcome.what];
  }
  const { headers, text } = outcome;
  const asked = `${sent.target} ${JSON.stringify(sent.headers)} ${sent.body?.toString() ?? ''}`;
  return [
    ...headerFaults(operations, sent, outcome),
    ...bodyFaults(operations, sent, outcome),
    ...insideFaults(text),
    ...world.secrets.findLeaks(`${text} ${JSON.stringify(headers)}`, asked),
  ];
}

export function insideFaults(text: string): string[] {
  const found = INSIDE.exec(text);
  return found === null ? [] : [`internal text: ${text.slice(Math.max(0, found.index - 40), found.index + 80)}`];
}

/** Operations whose responses may set the session cookie. */
const SET_COOKIE = ['startSession', 'endOwnSession', 'choosePassword', 'welcomeOwner', 'pairDisplay'];

function headerFaults(operations: Operation[], sent: Sent, { status, headers }: Answered): string[] {
  const operation = findOperation(operations, sent.method, sent.target);
  const faults: string[] = [];
  const expect = (isRight: boolean, fault: string) => void (isRight || faults.push(fault));
  const given = sent.headers['X-Request-Id'];
  const id = String(headers['x-request-id']);
  expect(SANE_ID.test(id), `X-Request-Id is ${id}`);
  // If the server refuses the request line or the size of the headers, it has not read the request id of the caller.
  const isRead = typeof given === 'string' && SANE_ID.test(given) && status !== 431 && hasPlainTarget(sent);
  expect(!isRead || id === given, `X-Request-Id is ${id}, not that of the caller`);
  expect(headers['server'] === undefined && headers['x-powered-by'] === undefined, 'a header names the server');
  expect(headers['x-content-type-options'] === 'nosniff', 'nosniff is missing');
  expect(headers['cache-control'] !== undefined, 'Cache-Control is missing');
  expect(headers['access-control-allow-origin'] === undefined, 'CORS is allowed');
  const setsCookie = operation !== undefined && SET_COOKIE.includes(operation.id) && status < 300;
  expect(setsCookie || headers['set-cookie'] === undefined, 'a cookie is set');
  const due = DUE_HEADERS[status];
  expect(due === undefined || headers[due] !== undefined, `${status} comes without the header ${due}`);
  const type = String(headers['content-type']).split(';', 1)[0];
  const isCsv = type === 'text/csv' && status === 200 && operation?.hasCsv === true;
  const isTyped = type === 'application/json' || isCsv || isEventStream(headers);
  const isEmpty = status === 304 || operation?.emptyStatuses.has(status) === true;
  expect(isTyped || isEmpty, `Content-Type is ${String(headers['content-type'])}`);
  return faults;
}

/** Returns true if Node's HTTP parser accepts the request target. It accepts 16 KiB for the target and the headers together. */
function hasPlainTarget({ target }: Sent): boolean {
  return /^[\x21-\x7e]{0,15000}$/.test(target);
}

function bodyFaults(operations: Operation[], sent: Sent, answer: Answered): string[] {
  const { status, text } = answer;
  if (sent.method === 'HEAD') {
    return text === '' ? [] : ['the response to HEAD has a body'];
  }
  if (status === 304) {
    return 'If-None-Match' in sent.headers && text === ''
      ? []
      : ['304 without If-None-Match in the request, or with a body'];
  }
  return status >= 400 ? refusalFaults(status, text) : successFaults(operations, sent, answer);
}

/** The body of a refusal must be exactly `{code, message}`, with a code of the error catalogue. */
export function refusalFaults(status: number, text: string): string[] {
  const body = parsed(text);
  if (!REFUSALS.has(status)) {
    return [`status ${status}: ${text.slice(0, 200)}`];
  }
  if (typeof body !== 'object' || body === null || Object.keys(body).sort().join() !== 'code,message') {
    return [`${status} is not exactly {code, message}: ${text.slice(0, 200)}`];
  }
  const { code, message } = body as Record<string, unknown>;
  const due = Object.entries(STATUS_BY_CODE).find(([known]) => known === code);
  if (due === undefined || (due[1] ?? status) !== status) {
    return [`${status} has the code ${String(code)}`];
  }
  const isSane =
    typeof message === 'string' && message !== '' && message.length < LONGEST_MESSAGE && message.isWellFormed();
  return isSane ? [] : [`${status} has the message ${String(message).slice(0, 200)}`];
}

function successFaults(operations: Operation[], sent: Sent, { status, headers, text }: Answered): string[] {
  if (/^\/(?:livez|readyz)?\/?(?:\?|$)/.test(sent.target)) {
    return [];
  }
  const operation = findOperation(operations, sent.method, sent.target);
  if (operation?.emptyStatuses.has(status) === true) {
    return text === '' ? [] : [`${status} has a body`];
  }
  const validator = operation?.answers.get(status);
  if (operation === undefined || validator === undefined) {
    return [`status ${status} is not documented for ${operation?.id ?? 'a path without an operation'}`];
  }
  if (operation.hasCsv && !text.startsWith('[')) {
    return text.endsWith('\r\n') ? [] : [`${status} is neither JSON nor CSV: ${text.slice(0, 200)}`];
  }
  const body = isEventStream(headers) ? text : parsed(text);
  const faults = findFaults(validator, body, 'answer').slice(0, 3);
  return faults.length === 0 ? [] : [`${status} does not fit the schema of ${operation.id}: ${faults.join(' | ')}`];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
