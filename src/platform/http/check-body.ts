import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Bounds, withBounds } from '../lib/bounds.ts';
import { compileSchema, type Validator } from '../lib/validation.ts';
import { invalidValue } from './invalid-value.ts';
import { LARGE_BODY_BYTES } from './read-body.ts';
import { createBodyWorkers } from './body-workers.ts';
import { decodeBody } from './decode/decode-body.ts';

/** The faults of a larger body are searched for there too: there may be one for every few bytes. */
const SEARCHED_HERE_BYTES = 4 * 1024;

/** A schema of bodies with its bounds, as this thread and the others take it. */
interface CompiledSchema {
  schema: object;
  text: string;
  validator: Validator;
}

/**
 * Makes the function that decodes and validates the body of a request: the value, or a promise of it if a worker thread does the
 * work. It throws ApiError 400 or 415. A route without a body in its schema has none, whatever came.
 */
export function createBodyCheck(app: FastifyInstance, bounds: Bounds): (request: FastifyRequest) => unknown {
  const workers = createBodyWorkers();
  app.addHook('onClose', () => workers.close());
  const schemas = new WeakMap<object, CompiledSchema>();

  function compiled(schema: object): CompiledSchema {
    let known = schemas.get(schema);
    if (known === undefined) {
      const bounded = withBounds(schema, bounds);
      known = { schema: bounded, text: JSON.stringify(bounded), validator: compileSchema(bounded) };
      schemas.set(schema, known);
    }
    return known;
  }

  return ({ body, headers, routeOptions }) => {
    if (routeOptions.schema?.body === undefined) {
      return undefined;
    }
    const { schema, text, validator } = compiled(routeOptions.schema.body as object);
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const encoded = { bytes, contentType: headers['content-type'], contentEncoding: headers['content-encoding'] };
    // On the event loop, a megabyte may take 100 ms.
    if (bytes.length > LARGE_BODY_BYTES) {
      return workers.check(encoded, text);
    }
    // No body is an empty object to a route that expects one: the answer then names the fields that are missing.
    const value = bytes.length === 0 ? {} : decodeBody(encoded, schema);
    if (validator.isValid(value)) {
      return value;
    }
    if (bytes.length > SEARCHED_HERE_BYTES) {
      return workers.check(encoded, text);
    }
    throw invalidValue(validator, value, 'body', bytes.length);
  };
}
