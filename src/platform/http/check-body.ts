import type { FastifyRequest } from 'fastify';
import { closed, compileSchema, type Validator } from '../lib/validation.ts';
import { decodeBody, type EncodedBody } from './decode/decode-body.ts';
import { invalidValue } from './invalid-value.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the handler gets the bytes of the body, and decodes and validates them elsewhere. For large documents. */
    takesEncodedBody?: boolean;
  }
}

/** Schemas as they are validated, by the schema of a route. */
const compiled = new WeakMap<object, { schema: object; validator: Validator }>();

/**
 * Decodes and validates the body of a request. Returns undefined if the route has no body.
 * @throws ApiError 400, or DecodeError 400 or 415
 */
export function checkBody(request: FastifyRequest): unknown {
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
export function encodedBodyOf({ body, headers }: FastifyRequest): EncodedBody {
  return {
    bytes: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  };
}
