import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { closed, compileSchema, invalidValue, type Validator } from '../lib/validation.ts';
import { convertText } from './decode/convert.ts';
import { undecodable } from './undecodable.ts';
import { decodeForm, decodeUrlEncoded, refuseJson } from './decode/form.ts';
import { decodeMultipart } from './decode/multipart.ts';
import { decodeJson } from './decode/text.ts';
import { drain } from './unread-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the handler gets the bytes of the body, and decodes and validates them elsewhere. For large documents. */
    takesEncodedBody?: boolean;
  }
}

export type EncodedBody = ReturnType<typeof encodedBodyOf>;

/** Time in milliseconds in which a body must arrive, from the moment at which its request has its place. */
const BODY_MS = 5_000;
const DOCUMENT_MS = 60_000;

/**
 * Validates a body just before the handler, because other checks respond first (rule 1). Fastify's own parsers would refuse it too
 * early. A route whose schema has no body ignores any body (rule 38).
 */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', readRequestBody);
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    // A malformed Content-Type counts as missing. Otherwise Fastify would refuse it, even if the request has no body.
    if (request.mediaType === undefined) {
      delete request.headers['content-type'];
    }
    done();
  });
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.body instanceof Error) {
      throw request.body;
    }
    request.body = checkBody(request);
    done();
  });
}

/** Reads a body. Returns its bytes, or the error that refuses it (413, 408). @throws ApiError 400 if the client leaves too early */
export function readRequestBody({ routeOptions }: FastifyRequest, payload: Readable): Promise<Buffer | Error> {
  const limitBytes = routeOptions.bodyLimit;
  const withinMs = routeOptions.config.place === 'document' ? DOCUMENT_MS : BODY_MS;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | Error>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const timer = setTimeout(() => finish(tooLate(withinMs)), withinMs);
  const finish = (result: Buffer | Error) => {
    clearTimeout(timer);
    payload.off('data', onData);
    resolve(result);
  };
  const onData = (chunk: Buffer) => {
    sizeBytes += chunk.length;
    chunks.push(chunk);
    if (sizeBytes > limitBytes) {
      payload.off('data', onData);
      void drain(payload).then((isWhole) => finish(tooLarge(limitBytes, isWhole)));
    }
  };
  payload.on('data', onData);
  payload.once('end', () => sizeBytes <= limitBytes && finish(Buffer.concat(chunks)));
  payload.once('error', () => {
    clearTimeout(timer);
    reject(undecodable('body', 'ends before it is complete'));
  });
  return promise;
}

function tooLarge(limitBytes: number, isWhole: boolean): ApiError {
  return new ApiError(413, 'error', `body: is larger than ${limitBytes} bytes`, isWhole ? {} : { connection: 'close' });
}

function tooLate(withinMs: number): ApiError {
  const message = `The body did not arrive within ${withinMs / 1_000} s. Send it again, and send it faster.`;
  return new ApiError(408, 'error', message, { connection: 'close' });
}

const compiled = new WeakMap<object, { schema: object; validator: Validator }>();

function checkBody(request: FastifyRequest): unknown {
  const { routeOptions } = request;
  if (routeOptions.schema?.body === undefined) {
    return undefined;
  }
  if (routeOptions.config.takesEncodedBody === true) {
    return request.body;
  }
  const encoded = encodedBodyOf(request);
  const { schema, validator } = compiledOf(
    routeOptions.schema.body as object,
    routeOptions.config.refusesUnknownFields === true,
  );
  // A missing body counts as an empty object, so that the error message names the missing fields.
  const value = encoded.bytes.length === 0 ? {} : decodeBody(encoded, schema);
  if (!validator.isValid(value)) {
    throw invalidValue(validator, value, 'body');
  }
  return value;
}

function compiledOf(schema: object, isClosed: boolean): { schema: object; validator: Validator } {
  let known = compiled.get(schema);
  if (known === undefined) {
    const checked = isClosed ? closed(schema) : schema;
    known = { schema: checked, validator: compileSchema(checked) };
    compiled.set(schema, known);
  }
  return known;
}

/** Returns the body of a request as it arrived. For a route with `takesEncodedBody`. */
export function encodedBodyOf({ body, headers }: FastifyRequest) {
  return {
    bytes: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  };
}

/** Decodes a body in one of the three content types of contract §1. @throws ApiError 400 or 415 */
export function decodeBody({ bytes, contentType, contentEncoding }: EncodedBody, schema: unknown): unknown {
  if (contentEncoding && contentEncoding.toLowerCase() !== 'identity') {
    throw unsupported('a Content-Encoding other than identity is not supported');
  }
  const { essence, params } = readContentType(contentType);
  const charset = params.get('charset') ?? 'utf-8';
  // The charset is named `utf-8` (RFC 9110), but `utf8` is accepted too, because many clients write it.
  if (!/^utf-?8$/i.test(charset)) {
    throw unsupported('a charset other than UTF-8 is not supported');
  }
  switch (essence) {
    case 'application/json':
      return decodeJson(bytes);
    case 'application/x-www-form-urlencoded':
      refuseJson(bytes);
      return convertText(decodeForm(decodeUrlEncoded(bytes, 'body')), schema);
    case 'multipart/form-data':
      return convertText(decodeForm(decodeMultipart(bytes, params.get('boundary'))), schema);
    default:
      throw unsupported(
        'Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data',
      );
  }
}

function readContentType(header = ''): MIMEType {
  try {
    return new MIMEType(header);
  } catch {
    throw unsupported('Content-Type is missing or malformed');
  }
}

function unsupported(fault: string): ApiError {
  return new ApiError(415, 'error', `body: ${fault}`);
}
