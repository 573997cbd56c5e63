import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Bounds, withBounds } from '../lib/bounds.ts';
import { closed, compileSchema, type Validator } from '../lib/validation.ts';
import { invalidValue } from './invalid-value.ts';
import { LARGE_BODY_BYTES } from './read-body.ts';
import { createBodyWorkers } from './body-workers.ts';
import { decodeBody } from './decode/decode-body.ts';
import { encodedBodyOf } from './encoded-body.ts';

/**
 * Size in bytes up to which an invalid body is searched for all its faults on the event loop. In a larger body, this search takes long,
 * because there may be a fault every few bytes. So a worker thread searches it.
 */
const MAX_SEARCHED_HERE_BYTES = 4 * 1024;

/**
 * Schema of a body in three forms: as an object, as text for the worker threads, and as a validator for the main thread. In all three
 * forms, the maximum lengths of arrays in the body are the configured ones (`Bounds`).
 */
interface CompiledSchema {
  schema: object;
  text: string;
  validator: Validator;
}

/**
 * Creates a function that decodes and validates the body of a request. The created function returns the value, or a promise of the value if
 * a worker thread does the work. It returns undefined if the route has no body. It throws ApiError 400, or DecodeError 400 or 415.
 */
export function createBodyCheck(app: FastifyInstance, bounds: Bounds): (request: FastifyRequest) => unknown {
  const workers = createBodyWorkers();
  app.addHook('onClose', () => workers.close());
  const schemas = new WeakMap<object, CompiledSchema>();

  function compiled(schema: object, isClosed: boolean): CompiledSchema {
    let known = schemas.get(schema);
    if (known === undefined) {
      const bounded = withBounds(isClosed ? closed(schema) : schema, bounds);
      known = { schema: bounded, text: JSON.stringify(bounded), validator: compileSchema(bounded) };
      schemas.set(schema, known);
    }
    return known;
  }

  return (request) => {
    const { routeOptions } = request;
    if (routeOptions.schema?.body === undefined) {
      return undefined;
    }
    if (routeOptions.config.takesEncodedBody === true) {
      return request.body;
    }
    const { schema, text, validator } = compiled(
      routeOptions.schema.body as object,
      routeOptions.config.refusesUnknownFields === true,
    );
    const encoded = encodedBodyOf(request);
    const { bytes } = encoded;
    // A worker thread checks a large body, because a body of 1 MiB could block the event loop for 100 ms.
    if (bytes.length > LARGE_BODY_BYTES) {
      return workers.check(encoded, text);
    }
    // A missing body counts as an empty object, so that the error message names the missing fields.
    const value = bytes.length === 0 ? {} : decodeBody(encoded, schema);
    if (validator.isValid(value)) {
      return value;
    }
    if (bytes.length > MAX_SEARCHED_HERE_BYTES) {
      return workers.check(encoded, text);
    }
    throw invalidValue(validator, value, 'body', bytes.length);
  };
}
