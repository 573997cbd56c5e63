import { encode, type Encoding, leafOf, percentEncoded } from '../../fuzz/encodings.ts';
import { CONTENT_TYPES } from '../../fuzz/hostile.ts';
import type { Answer } from '../../../support/http.ts';
import type { TestService } from '../../../support/service.ts';
import { CONSOLE } from '../../../support/sessions.ts';
import { type Known, LEFT_OUT, smallestValue } from './bodies.ts';
import type { Caller } from './callers.ts';
import type { Operation } from './operations.ts';

export const ENCODINGS: readonly Encoding[] = ['json', 'form', 'multipart'];

/** A request to an operation. Without the optional fields, it is the smallest request that the operation accepts. */
export interface Request {
  operation: Operation;
  /** Values of the path parameters, by name, percent-encoded. */
  path: Record<string, string>;
  known: Known;
  /** Query parameters beside those that the operation requires. A list repeats its parameter. */
  query?: Record<string, unknown>;
  /** Value that is sent in place of the smallest body, or bytes that are sent unchanged. Null for no body. */
  body?: unknown;
  encoding?: Encoding;
  /** Content type in place of that of the encoding. */
  type?: string;
  method?: string;
  /** True for a call without the header of the console, although the operation requires it. */
  isForeignSite?: boolean;
}

let sent = 0;

/** Sends a request from a client address of its own, because sign-ins are limited for each address. */
export async function send(service: TestService, caller: Caller, request: Request): Promise<Answer> {
  const { operation, encoding = 'json', method = operation.method } = request;
  const body = bytesOf(request);
  const { type = CONTENT_TYPES[encoding][0] ?? '' } = request;
  sent += 1;
  const headers = {
    ...caller.headersFor(body ?? Buffer.alloc(0)),
    ...(operation.isConsoleOnly && !request.isForeignSite && CONSOLE),
    ...(body !== null && { 'content-type': type }),
    'x-forwarded-for': `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`,
  };
  return await service.call(method, targetOf(request), { headers, ...(body !== null && { body }) });
}

function bytesOf({ operation, known, body, encoding = 'json' }: Request): Buffer | null {
  if (body instanceof Buffer || body === null || (body === undefined && operation.body === null)) {
    return body ?? null;
  }
  const value = body === undefined ? smallestValue(operation.body ?? {}, known) : body;
  return Buffer.from(encode(value, encoding, 'brackets'));
}

function targetOf({ operation, path, known, query = {} }: Request): string {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '');
  const required = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => [name, smallestValue(schema, known, name)] as const);
  const pairs = Object.entries({ ...Object.fromEntries(required), ...query })
    .filter(([, value]) => value !== LEFT_OUT)
    .flatMap(([name, value]) => [value].flat().map((each) => `${name}=${percentEncoded(leafOf(each))}`));
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

/** Number of requests at the same time. With more, some would wait for a place at the door for longer than the door lets them. */
const LANES = 8;

/** Runs the work for each element, for a few at the same time. */
export async function forEachOf<T>(all: Iterable<T>, work: (each: T) => Promise<void>): Promise<void> {
  const rest = all[Symbol.iterator]();
  const lane = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      await work(next.value);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
